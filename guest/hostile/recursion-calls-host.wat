;; parts: imports memory announce
;; Calls itself for ever and, at every 64th level on the way down to the end of its stack, the host: with arguments that are
;; 512 arrays deep.
  (data (i32.const 0) "echo")
  (func $deeper (param $self i32) (param $depth i32) (result i32)
    (if (i32.eqz (i32.and (local.get $depth) (i32.const 63)))
      (then
        (global.set $heap (i32.const 65536))
        (call $submit (local.get $self) (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 1024) (i32.const 1024)
          (i32.const 61440))))
    (i32.add (call $deeper (local.get $self) (i32.add (local.get $depth) (i32.const 1))) (local.get $depth)))
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (memory.fill (i32.const 1024) (i32.const 91) (i32.const 512))
    (memory.fill (i32.const 1536) (i32.const 93) (i32.const 512))
    (drop (call $deeper (local.get $self) (i32.const 0)))
    (call $drop (local.get $self)))
