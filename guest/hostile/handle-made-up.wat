;; parts: imports memory announce
;; Uses an execution it made up: handle 7. The first letter of the program says for what: a submit, b next, c cancel,
;; d log, e wall-clock, f monotonic-clock, g sleep, h entropy, i members, j complete, k fail, l unhandled,
;; m drop.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (block $m (block $l (block $k (block $j (block $i (block $h (block $g (block $f (block $e (block $d (block $c (block $b (block $a
      (br_table $a $b $c $d $e $f $g $h $i $j $k $l $m
        (i32.sub (i32.load8_u (local.get $program)) (i32.const 97))))
      ;; a
      (call $submit (i32.const 7) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 61440)))
      (call $next (i32.const 7) (i32.const 1) (i64.const 0) (i32.const 61440)))
      (call $cancel (i32.const 7) (i64.const 1)))
      (call $log (i32.const 7) (i32.const 0) (i32.const 0)))
      (drop (call $wall-clock (i32.const 7))))
      (drop (call $monotonic-clock (i32.const 7))))
      (call $sleep (i32.const 7) (i64.const 0)))
      (call $entropy (i32.const 7) (i32.const 1) (i32.const 61440)))
      (call $members (i32.const 7) (i32.const 0) (i32.const 61440)))
      (call $complete (i32.const 7) (i32.const 0) (i32.const 0) (i32.const 0)))
      (call $fail (i32.const 7) (i32.const 0) (i32.const 0) (i32.const 0)))
      (call $unhandled (i32.const 7) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0)))
    (call $drop (i32.const 7))
    (call $drop (local.get $self)))
