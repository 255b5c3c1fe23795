; Deep recursion that is not in tail position.
(define (ack m n)
  (cond ((= m 0) (+ n 1))
        ((= n 0) (ack (- m 1) 1))
        (else (ack (- m 1) (ack m (- n 1))))))
(write (map (lambda (m) (ack m 3)) '(0 1 2 3)))
(newline)
(write (ack 2 60))
(newline)

(define (sum-to n) (if (= n 0) 0 (+ n (sum-to (- n 1)))))
(write (sum-to 50000))
(newline)

(define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
(write (length (build 30000)))
(newline)

(define (hanoi n from to by)
  (if (= n 0) 0 (+ (hanoi (- n 1) from by to) 1 (hanoi (- n 1) by to from))))
(write (hanoi 12 'a 'b 'c))
(newline)

; Trees: make one, check it, drop it.
(define (tree depth) (if (= depth 0) '() (cons (tree (- depth 1)) (tree (- depth 1)))))
(define (leaves t) (if (null? t) 1 (+ (leaves (car t)) (leaves (cdr t)))))
(define long-lived (tree 12))
(write (map (lambda (d) (leaves (tree d))) '(0 4 8 10)))
(write (leaves long-lived))
(newline)
