import NIOHTTP1
import Synchronization

/// Joins requests with the connections that carry them, so that what belongs to a request is at hand on the wire.
///
/// The library does not say which connection a request gets. So a request of which something is to be known carries a number in
/// a field that the handler on the connection reads and takes out; it never reaches the service.
final class TransferRegistry<Value: Sendable>: Sendable {
    /// The field.
    let field: String
    private let state = Mutex((last: UInt64(0), values: [UInt64: Value]()))

    init(field: String) { self.field = field }

    /// Notes what belongs to a request; the number goes into ``field``.
    func register(_ value: Value) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.values[state.last] = value
            return state.last
        }
    }

    /// Forgets a request, whose answer has begun or will not come. Until then it is known on every connection that it is
    /// tried on.
    func remove(_ number: UInt64) { state.withLock { _ = $0.values.removeValue(forKey: number) } }

    /// What belongs to the request with these fields, from which the number is taken out.
    func take(from headers: inout HTTPHeaders) -> Value? {
        guard let text = headers.first(name: field) else { return nil }
        headers.remove(name: field)
        guard let number = UInt64(text) else { return nil }
        return state.withLock { $0.values[number] }
    }
}
