import NIOHTTP1
import Synchronization

/// Associates requests with the connections that send them, so that handlers can access the values of a
/// request.
///
/// The library does not reveal the connection of a request. A registered request therefore has a number in a
/// header field. The handler on the connection reads and removes the field, so that it never reaches the
/// service.
final class TransferRegistry<Value: Sendable>: Sendable {
    let field: String
    private let state = Mutex((last: UInt64(0), values: [UInt64: Value]()))

    init(field: String) { self.field = field }

    /// Registers the value of a request and returns the number for ``field``.
    func register(_ value: Value) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.values[state.last] = value
            return state.last
        }
    }

    /// Removes a request whose response has begun or failed. Until then it is known on every connection that it
    /// tries.
    func remove(_ number: UInt64) { state.withLock { _ = $0.values.removeValue(forKey: number) } }

    /// Returns the value of the request with these fields, and removes its number from them.
    func take(from headers: inout HTTPHeaders) -> Value? {
        guard let text = headers.first(name: field) else { return nil }
        headers.remove(name: field)
        guard let number = UInt64(text) else { return nil }
        return state.withLock { $0.values[number] }
    }
}
