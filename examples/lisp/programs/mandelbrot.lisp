; Mandelbrot's set in characters: floating-point numbers are objects of the heap.
(define width 60)
(define height 24)
(define limit 50)

(define (escape cr ci)
  (let loop ((zr 0.0) (zi 0.0) (n 0))
    (let ((rr (* zr zr)) (ii (* zi zi)))
      (if (or (= n limit) (> (+ rr ii) 4.0))
          n
          (loop (+ (- rr ii) cr) (+ (* 2.0 zr zi) ci) (+ n 1))))))

(define (shade n)
  (cond ((= n limit) #\#)
        ((> n 12) #\+)
        ((> n 6) #\-)
        ((> n 3) #\.)
        (else #\space)))

(do ((y 0 (+ y 1)))
    ((= y height))
  (do ((x 0 (+ x 1)))
      ((= x width))
    (write-char (shade (escape (- (/ (* 3.0 x) width) 2.2)
                               (- (/ (* 2.4 y) height) 1.2)))))
  (newline))

; Matrices: vectors of vectors.
(define (make-matrix n f)
  (let ((m (make-vector n 0)))
    (do ((i 0 (+ i 1)))
        ((= i n) m)
      (vector-set! m i (make-vector n 0))
      (do ((j 0 (+ j 1)))
          ((= j n))
        (vector-set! (vector-ref m i) j (f i j))))))

(define (multiply a b)
  (let ((n (vector-length a)))
    (make-matrix n
      (lambda (i j)
        (do ((k 0 (+ k 1))
             (sum 0 (+ sum (* (vector-ref (vector-ref a i) k) (vector-ref (vector-ref b k) j)))))
            ((= k n) sum))))))

(define (power m n)
  (cond ((= n 1) m)
        ((even? n) (let ((half (power m (quotient n 2)))) (multiply half half)))
        (else (multiply m (power m (- n 1))))))

; The k-th power of this one holds Fibonacci's numbers.
(write (power (vector (vector 1 1) (vector 1 0)) 60))
(newline)
(write (vector-ref (power (make-matrix 8 (lambda (i j) (if (= i j) 2 0))) 20) 3))
(newline)
(write (map (lambda (x) (* x 0.5)) '(1 2 3)))
(newline)
