; String ports and strings.
(define (show x) (write x) (newline))

(define port (open-output-string))
(write 'a port)
(write-char #\space port)
(write "b\n" port)
(display " c" port)
(show (get-output-string port))

(show (with-output-to-string
        (lambda ()
          (display "outer ")
          (display (string-length (with-output-to-string (lambda () (display "inner")))))
          (display " outer"))))

; A table, written to a string line by line.
(define (pad-left text width)
  (if (< (string-length text) width)
      (pad-left (string-append " " text) width)
      text))

(define squares
  (with-output-to-string
    (lambda ()
      (do ((i 1 (+ i 1)))
          ((> i 12))
        (display (pad-left (number->string i) 3))
        (display (pad-left (number->string (* i i)) 5))
        (newline)))))
(display squares)
(show (string-length squares))

; Reading characters from a string.
(define (words text)
  (define in (open-input-string text))
  (let loop ((letters '()) (found '()))
    (let ((c (read-char in)))
      (define (with-last)
        (if (null? letters) found (cons (list->string (reverse letters)) found)))
      (cond ((eof-object? c) (reverse (with-last)))
            ((char-alphabetic? c) (loop (cons (char-downcase c) letters) found))
            (else (loop '() (with-last)))))))
(show (words "The quick brown fox -- jumps OVER the lazy dog."))

(show (string-append "ab" "" "cd"))
(show (substring "hello world" 6 11))
(show (string->list "abc"))
(show (list->string (reverse (string->list "stressed"))))
(show (map string-length '("" "a" "bc")))
(show (string->number "42"))
(show (string->number "4x"))
(show (number->string 255))
(show (string->symbol "sym"))
(show (symbol->string 'abc))
(show (string=? "x" "x"))
(show (list (string<? "abc" "abd") (string<? "b" "a") (string-ref "xyz" 1)))
(show (list #\a #\space #\newline "quote \" backslash \\"))

; Strings grown one character at a time: garbage of every size.
(define (grow n)
  (let loop ((i 0) (text ""))
    (if (= i n) text (loop (+ i 1) (string-append text (if (even? i) "x" "yz"))))))
(show (string-length (grow 400)))
(define (count-char c text)
  (let loop ((i 0) (n 0))
    (if (= i (string-length text))
        n
        (loop (+ i 1) (if (char=? c (string-ref text i)) (+ n 1) n)))))
(show (count-char #\z (grow 400)))
