; Closures: counters, accounts, objects by message, generators, and variables that outlive their block.
(define (show x) (write x) (newline))

(define (make-counter)
  (let ((n 0))
    (lambda () (set! n (+ n 1)) n)))
(define a (make-counter))
(define b (make-counter))
(a) (a)
(show (list (a) (b) (a) (b)))

(define (make-account balance)
  (define (withdraw amount)
    (if (> amount balance)
        'insufficient
        (begin (set! balance (- balance amount)) balance)))
  (define (deposit amount)
    (set! balance (+ balance amount))
    balance)
  (lambda (message . arguments)
    (case message
      ((withdraw) (apply withdraw arguments))
      ((deposit) (apply deposit arguments))
      ((balance) balance)
      (else (list 'unknown message)))))

(define account (make-account 100))
(show (account 'withdraw 30))
(show (account 'withdraw 100))
(show (account 'deposit 50))
(show (account 'balance))
(show (account 'close))

; Each iteration has variables of its own.
(define thunks
  (do ((i 0 (+ i 1)) (l '() (cons (lambda () (* i i)) l)))
      ((= i 5) (reverse l))))
(show (map (lambda (f) (f)) thunks))

; Setters and getters share a variable.
(define cell
  (let ((x 1))
    (cons (lambda () x) (lambda (y) (set! x y)))))
((cdr cell) 99)
(show ((car cell)))

(define (compose . fs)
  (if (null? fs)
      (lambda (x) x)
      (lambda (x) ((car fs) ((apply compose (cdr fs)) x)))))
(show ((compose (lambda (x) (* x 2)) (lambda (x) (+ x 1)) car) '(10 20)))

(define (curry f . first) (lambda rest (apply f (append first rest))))
(show ((curry + 1 2) 3 4))

(define (curried-adder a) (lambda (b) (lambda (c) (+ a b c))))
(show (((curried-adder 1) 10) 100))

; Scope: inner names hide outer ones, even those of the Lisp itself.
(define x 'global)
(define (f x) (let ((x (list x 'inner))) (let* ((y x) (x 'innermost)) (list x y))))
(show (f 'argument))
(show x)
(show (let ((list vector) (if 5)) (list if 2)))
(show (let ((+ *)) (+ 3 4)))

; A mutually recursive pair in letrec, internal defines that refer to each other.
(show (letrec ((even? (lambda (n) (if (= n 0) #t (odd? (- n 1)))))
               (odd? (lambda (n) (if (= n 0) #f (even? (- n 1))))))
        (list (even? 100) (odd? 100))))
(define (internal n)
  (define (up i) (if (< i n) (cons i (down (+ i 1))) '()))
  (define (down i) (if (< i n) (cons (- i) (up (+ i 1))) '()))
  (up 0))
(show (internal 6))
(show (let loop ((i 0) (fs '()))
        (if (= i 3)
            (map (lambda (f) (f 10)) fs)
            (loop (+ i 1) (cons (lambda (n) (+ n i)) fs)))))
