import Synchronization

/// A class of requests that share a number of permits, so that one kind of work does not keep out another
/// (`mobile-server.md` 5.10).
///
/// ```swift
/// let deltas = AdmissionClass(name: "deltas", limit: 512)
/// guard let permit = deltas.enter() else { return busy }
/// defer { permit.leave() }
/// ```
public final class AdmissionClass: Sendable {
    /// The name, for messages and metrics.
    public let name: String
    /// The number of permits.
    public let limit: Int
    private let running = Mutex(0)
    private let share = Mutex(1.0)

    /// Creates a class.
    ///
    /// - Parameters:
    ///   - name: The name, for messages and metrics.
    ///   - limit: The number of permits; at least one.
    public init(name: String, limit: Int) {
        self.name = name
        self.limit = max(1, limit)
    }

    /// The number of permits in use.
    public var inUse: Int { running.withLock { $0 } }

    /// Limits the class to a share of its permits, so that a node opens slowly after a start.
    ///
    /// - Parameter share: From 0 to 1; at least one permit stays.
    public func open(to share: Double) { self.share.withLock { $0 = min(max(share, 0), 1) } }

    /// Takes a permit, or returns `nil` if all are in use.
    public func enter() -> Permit? {
        let allowed = max(1, Int(Double(limit) * share.withLock { $0 }))
        let isAdmitted = running.withLock { count in
            guard count < allowed else { return false }
            count += 1
            return true
        }
        return isAdmitted ? Permit(of: self) : nil
    }

    fileprivate func leave() { running.withLock { $0 -= 1 } }

    /// A permit, which is given back once: by ``leave()``, or when nothing refers to it any more.
    public final class Permit: Sendable {
        private let owner: Mutex<AdmissionClass?>

        fileprivate init(of owner: AdmissionClass) { self.owner = Mutex(owner) }

        /// Gives the permit back. Further calls have no effect.
        public func leave() {
            let owner = owner.withLock { owner in
                defer { owner = nil }
                return owner
            }
            owner?.leave()
        }

        deinit { leave() }
    }
}
