  ;; Ways to end a program. Lent handles are dropped.
  (data (i32.const 57472) "1")
  ;; Completes with the number 1 and gives the execution back.
  (func $one (param $self i32)
    (call $complete (local.get $self) (i32.const 1) (i32.const 57472) (i32.const 1))
    (call $drop (local.get $self)))
  ;; Completes with a number and gives the execution back. The digits are written backwards from 60,928.
  (func $number (param $self i32) (param $number i64)
    (local $at i32)
    (local.set $at (i32.const 60928))
    (loop $digits
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at)
        (i32.add (i32.const 48) (i32.wrap_i64 (i64.rem_u (local.get $number) (i64.const 10)))))
      (local.set $number (i64.div_u (local.get $number) (i64.const 10)))
      (br_if $digits (i64.ne (local.get $number) (i64.const 0))))
    (call $complete (local.get $self)
      (i32.const 1) (local.get $at) (i32.sub (i32.const 60928) (local.get $at)))
    (call $drop (local.get $self)))
