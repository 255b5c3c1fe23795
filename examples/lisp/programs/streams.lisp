; Streams: a pair whose rest is a promise, and a promise is a closure that remembers.
(define (make-promise thunk)
  (let ((done #f) (value #f))
    (lambda ()
      (unless done
        (let ((v (thunk)))
          (unless done
            (set! done #t)
            (set! value v)
            (set! thunk #f))))
      value)))
(define (force-it promise) (promise))

(define (stream-rest s) (force-it (cdr s)))
(define (integers-from n) (cons n (make-promise (lambda () (integers-from (+ n 1))))))
(define (take n s) (if (= n 0) '() (cons (car s) (take (- n 1) (stream-rest s)))))
(define (smap f s) (cons (f (car s)) (make-promise (lambda () (smap f (stream-rest s))))))
(define (sfilter keep? s)
  (if (keep? (car s))
      (cons (car s) (make-promise (lambda () (sfilter keep? (stream-rest s)))))
      (sfilter keep? (stream-rest s))))
(define (nth s n) (if (= n 0) (car s) (nth (stream-rest s) (- n 1))))
(define (sadd a b)
  (cons (+ (car a) (car b)) (make-promise (lambda () (sadd (stream-rest a) (stream-rest b))))))

(define (show x) (write x) (newline))
(show (take 10 (smap (lambda (x) (* x x)) (integers-from 1))))

(define (sieve s)
  (cons (car s)
        (make-promise
          (lambda ()
            (sieve (sfilter (lambda (n) (not (= 0 (remainder n (car s))))) (stream-rest s)))))))
(show (take 30 (sieve (integers-from 2))))

(define fibs
  (cons 0 (make-promise (lambda () (cons 1 (make-promise (lambda () (sadd fibs (stream-rest fibs)))))))))
(show (nth fibs 80))
(show (nth (integers-from 0) 5000))

; Church's numerals.
(define zero (lambda (f) (lambda (x) x)))
(define (succ n) (lambda (f) (lambda (x) (f ((n f) x)))))
(define (plus a b) (lambda (f) (lambda (x) ((a f) ((b f) x)))))
(define (times a b) (lambda (f) (a (b f))))
(define (power a b) (b a))
(define (->number n) ((n (lambda (k) (+ k 1))) 0))
(define one (succ zero))
(define two (succ one))
(define three (succ two))
(show (map ->number (list zero one two three (plus two three) (times three three) (power two (times three three)))))

; The fixed point of a function that has no name.
(define (fix f) ((lambda (x) (x x)) (lambda (x) (f (lambda (n) ((x x) n))))))
(show ((fix (lambda (self) (lambda (n) (if (= n 0) 1 (* n (self (- n 1))))))) 15))
