; Proper tail calls: a million steps in constant space, by every road there is.
(define (show x) (write x) (newline))
(define n 1000000)

(define (loop i) (if (= i 0) 'done (loop (- i 1))))
(show (loop n))

(define (even-steps? i) (if (= i 0) #t (odd-steps? (- i 1))))
(define (odd-steps? i) (if (= i 0) #f (even-steps? (- i 1))))
(show (even-steps? n))

(define (through-cond i)
  (cond ((= i 0) 'cond)
        (else (through-case (- i 1)))))
(define (through-case i)
  (case i
    ((0) 'case)
    (else (through-and (- i 1)))))
(define (through-and i) (and #t (through-let i)))
(define (through-let i) (let ((j i)) (through-begin j)))
(define (through-begin i) (begin 'ignored (through-or i)))
(define (through-or i) (or #f (through-when i)))
(define (through-when i) (when #t (through-apply i)))
(define (through-apply i) (if (< i 3) (list 'apply i) (apply through-cond (list i))))
(show (through-cond 100000))

(show (do ((i 0 (+ i 1)) (sum 0 (+ sum i))) ((= i n) sum)))

; Continuation-passing: every call is a tail call.
(define (fact/k n k) (if (= n 0) (k 1) (fact/k (- n 1) (lambda (r) (k (* n r))))))
(show (fact/k 18 (lambda (r) r)))
(define (count/k n k) (if (= n 0) (k 0) (count/k (- n 1) (lambda (r) (k (+ r 1))))))
(show (count/k 100000 (lambda (r) r)))

; A state machine.
(define (machine input)
  (define (start l) (if (null? l) 'empty (if (eq? (car l) 'a) (more (cdr l)) 'bad)))
  (define (more l) (cond ((null? l) 'accepted) ((eq? (car l) 'b) (more (cdr l))) ((eq? (car l) 'c) (start (cdr l))) (else 'bad)))
  (start input))
(show (map machine '((a b b) (b) () (a c a b) (a x))))
