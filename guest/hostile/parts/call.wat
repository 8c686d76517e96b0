  ;; Calls in two steps. Answers of the host are read at 61,440.
  ;; Starts a call. On an error value it logs the text and returns 0, else 1.
  (func $start (param $self i32) (param $namespace i32) (param $name i32) (param $name-len i32)
    (param $arguments i32) (param $arguments-len i32) (result i32)
    (call $submit (local.get $self) (local.get $namespace) (local.get $name) (local.get $name-len)
      (local.get $arguments) (local.get $arguments-len) (i32.const 61440))
    (if (result i32) (i32.load8_u (i32.const 61440))
      (then
        (call $log (local.get $self) (i32.load (i32.const 61448)) (i32.load (i32.const 61452)))
        (i32.const 0))
      (else (i32.const 1))))
  ;; Waits without end. 0 success, 1 failure, 2 cancelled, 4 idle; the text is then at (61,460, 61,464).
  (func $await (param $self i32) (result i32)
    (call $next (local.get $self) (i32.const 0) (i64.const 0) (i32.const 61440))
    (if (result i32) (i32.load8_u (i32.const 61440))
      (then (i32.add (i32.const 2) (i32.load8_u (i32.const 61440))))
      (else (i32.load8_u (i32.const 61456)))))
  ;; Logs the text of the last answer.
  (func $log-answer (param $self i32)
    (call $log (local.get $self) (i32.load (i32.const 61460)) (i32.load (i32.const 61464))))
  ;; Reads a decimal number.
  (func $parse (param $text i32) (param $len i32) (result i64)
    (local $number i64)
    (block $done
      (loop $digits
        (br_if $done (i32.eqz (local.get $len)))
        (local.set $number
          (i64.add
            (i64.mul (local.get $number) (i64.const 10))
            (i64.sub (i64.load8_u (local.get $text)) (i64.const 48))))
        (local.set $text (i32.add (local.get $text) (i32.const 1)))
        (local.set $len (i32.sub (local.get $len) (i32.const 1)))
        (br $digits)))
    (local.get $number))
