import Synchronization

/// A floating-point number that several threads change.
final class AtomicNumber: Sendable {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func update(_ change: (Double) -> Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = change(Double(bitPattern: old)).bitPattern
            let (isExchanged, current) = bits.compareExchange(expected: old, desired: new, ordering: .relaxed)
            if isExchanged { return }
            old = current
        }
    }
}
