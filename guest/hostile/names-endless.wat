;; parts: imports memory announce end call
;; Calls members that do not exist, by names of 60,000 bytes each, and receives every answer, until it is refused. Logs the
;; refusal and completes with the number of calls.
  (data (i32.const 0) "null")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $calls i64) (local $name i32)
    (local.set $name (call $cabi_realloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 60000)))
    (memory.fill (local.get $name) (i32.const 97) (i32.const 60000))
    (loop $again
      (global.set $heap (i32.const 131072))
      (if (call $start (local.get $self) (i32.const 0) (local.get $name) (i32.const 60000) (i32.const 0) (i32.const 4))
        (then
          (drop (call $await (local.get $self)))
          (local.set $calls (i64.add (local.get $calls) (i64.const 1)))
          (br $again))))
    (call $number (local.get $self) (local.get $calls)))
