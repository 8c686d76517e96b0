;; parts: imports memory announce end
;; Sends values that its types do not have: 1 a third option of `complete`, 2 a third kind of failure, 3 a third option of
;; `next`.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $what i32)
    (local.set $what (i32.load8_u (local.get $program)))
    (if (i32.eq (local.get $what) (i32.const 49))
      (then (call $complete (local.get $self) (i32.const 2) (i32.const 0) (i32.const 0))))
    (if (i32.eq (local.get $what) (i32.const 50))
      (then (call $fail (local.get $self) (i32.const 2) (i32.const 0) (i32.const 0))))
    (if (i32.eq (local.get $what) (i32.const 51))
      (then (call $next (local.get $self) (i32.const 2) (i64.const 0) (i32.const 61440))))
    (call $drop (local.get $self)))
