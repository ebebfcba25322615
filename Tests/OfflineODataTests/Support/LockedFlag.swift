import ODataService
import Synchronization

/// A flag that several threads may set and read.
final class LockedFlag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }

    func clear() { value.withLock { $0 = false } }
}

/// Requests in the order in which several threads add them.
final class LockedList: Sendable {
    private let value = Mutex<[ODataRequest]>([])

    var requests: [ODataRequest] { value.withLock { $0 } }

    func append(_ request: ODataRequest) { value.withLock { $0.append(request) } }
}
