;; parts: imports memory announce
;; Grows its memory to 256 MiB and fills it for ever, in single instructions that nothing interrupts.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (drop (memory.grow (i32.const 4094)))
    (loop $again
      (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x10000000))
      (br $again)))
