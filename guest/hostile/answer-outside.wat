;; parts: imports memory announce end
;; Has the answers of the host written outside its memory (1) or to an odd address (2).
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $submit (local.get $self) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
      (if (result i32) (i32.eq (i32.load8_u (local.get $program)) (i32.const 49))
        (then (i32.const 0x1fff8))
        (else (i32.const 61441))))
    (call $one (local.get $self)))
