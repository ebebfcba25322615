// Encrypted databases, their logs and journals: any bytes at all, and whole files with some bytes changed.

/// The opened store. It is made once: a run costs only its opening.
private nonisolated(unsafe) let fuzzing = StoreFuzzing.whole()

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let outcome = fuzzing.run(Array(UnsafeBufferPointer(start: data, count: count)))
    precondition(outcome != .wrong, "something was read that nobody wrote")
    return 0
}
