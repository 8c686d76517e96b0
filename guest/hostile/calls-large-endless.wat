;; parts: imports memory announce end call
;; Calls `echo` with a text of 300,001 bytes that becomes a tree a hundred times as large, until it is refused. Logs the
;; refusal, then the message of every call that failed, and completes with the number of those that did not.
  (data (i32.const 0) "echo")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $text i32) (local $at i32) (local $good i64) (local $end i32)
    (local.set $text (call $cabi_realloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 300016)))
    (local.set $at (local.get $text))
    (local.set $end (i32.add (local.get $text) (i32.const 300000)))
    (loop $fill
      ;; "{},{},…"
      (i32.store (local.get $at) (i32.const 0x2c7d7b2c))
      (local.set $at (i32.add (local.get $at) (i32.const 3)))
      (br_if $fill (i32.lt_u (local.get $at) (local.get $end))))
    (i32.store8 (local.get $text) (i32.const 91))
    (i32.store8 (local.get $end) (i32.const 93))
    (loop $again
      (br_if $again
        (call $start (local.get $self) (i32.const 0) (i32.const 0) (i32.const 4) (local.get $text) (i32.const 300001))))
    (block $received
      (loop $receive
        (local.set $at (call $await (local.get $self)))
        (br_if $received (i32.eq (local.get $at) (i32.const 4)))
        (if (i32.eqz (local.get $at)) (then (local.set $good (i64.add (local.get $good) (i64.const 1)))))
        (if (i32.eq (local.get $at) (i32.const 1)) (then (call $log-answer (local.get $self))))
        (br $receive)))
    (call $number (local.get $self) (local.get $good)))
