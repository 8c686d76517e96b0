;; parts: imports memory announce end call
;; Makes a call and cancels it, as often as the program says, and never receives. Logs the first refusal and completes with
;; the number of calls.
  (data (i32.const 0) "nullecho")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $left i64) (local $calls i64)
    (local.set $left (call $parse (local.get $program) (local.get $program-len)))
    (block $made
      (loop $make
        (br_if $made (i64.eqz (local.get $left)))
        (br_if $made (i32.eqz
          (call $start (local.get $self) (i32.const 0) (i32.const 4) (i32.const 4) (i32.const 0) (i32.const 4))))
        (local.set $calls (i64.add (local.get $calls) (i64.const 1)))
        (call $cancel (local.get $self) (local.get $calls))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $make)))
    (call $number (local.get $self) (local.get $calls)))
