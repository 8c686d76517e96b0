;; parts: imports memory announce end call
;; Calls with arguments that are 100,000 arrays deep, and logs what the host says to that.
  (data (i32.const 0) "echo")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $text i32)
    (local.set $text (call $cabi_realloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 200000)))
    (memory.fill (local.get $text) (i32.const 91) (i32.const 100000))
    (memory.fill (i32.add (local.get $text) (i32.const 100000)) (i32.const 93) (i32.const 100000))
    (drop (call $start (local.get $self) (i32.const 0) (i32.const 0) (i32.const 4) (local.get $text) (i32.const 200000)))
    (call $one (local.get $self)))
