;; parts: imports memory announce end call
;; Calls a member whose name has as many bytes as the program says.
  (data (i32.const 0) "null")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $len i32) (local $name i32)
    (local.set $len (i32.wrap_i64 (call $parse (local.get $program) (local.get $program-len))))
    (local.set $name (call $cabi_realloc (i32.const 0) (i32.const 0) (i32.const 1) (local.get $len)))
    (memory.fill (local.get $name) (i32.const 97) (local.get $len))
    (if (call $start (local.get $self) (i32.const 0) (local.get $name) (local.get $len) (i32.const 0) (i32.const 4))
      (then (if (call $await (local.get $self)) (then (call $log-answer (local.get $self))))))
    (call $one (local.get $self)))
