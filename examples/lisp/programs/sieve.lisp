; Primes by Eratosthenes, in a vector and as a stream.
(define (sieve n)
  (let ((composite (make-vector (+ n 1) #f)))
    (let loop ((i 2) (primes '()))
      (if (> i n)
          (reverse primes)
          (if (vector-ref composite i)
              (loop (+ i 1) primes)
              (begin
                (do ((j (* i i) (+ j i)))
                    ((> j n))
                  (vector-set! composite j #t))
                (loop (+ i 1) (cons i primes))))))))

(define primes (sieve 10000))
(display (length primes))
(newline)
(display (list-tail primes 1220))
(newline)

(define (filter-list keep? l)
  (let loop ((l l) (kept '()))
    (cond ((null? l) (reverse kept))
          ((keep? (car l)) (loop (cdr l) (cons (car l) kept)))
          (else (loop (cdr l) kept)))))

; Twins below 200.
(define small (filter-list (lambda (p) (< p 200)) primes))
(define (twins l)
  (cond ((null? (cdr l)) '())
        ((= (+ (car l) 2) (cadr l)) (cons (cons (car l) (cadr l)) (twins (cdr l))))
        (else (twins (cdr l)))))
(write (twins small))
(newline)

; Factors.
(define (factor n)
  (let loop ((n n) (p primes))
    (cond ((= n 1) '())
          ((> (* (car p) (car p)) n) (list n))
          ((= 0 (remainder n (car p))) (cons (car p) (loop (quotient n (car p)) p)))
          (else (loop n (cdr p))))))
(for-each
  (lambda (n) (write (cons n (factor n))) (newline))
  '(2 60 97 1001 65536 99999999 123456789))
