import ODataService
import Synchronization

/// A thread-safe flag.
final class LockedFlag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }

    func clear() { value.withLock { $0 = false } }
}

/// A thread-safe list of requests.
final class LockedList: Sendable {
    private let value = Mutex<[ODataRequest]>([])

    var requests: [ODataRequest] { value.withLock { $0 } }

    func append(_ request: ODataRequest) { value.withLock { $0.append(request) } }
}
