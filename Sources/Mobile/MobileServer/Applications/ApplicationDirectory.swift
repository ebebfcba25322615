import ServerState
import Synchronization

/// An application with its active configuration.
public struct ActiveApplication: Hashable, Sendable {
    /// The application.
    public var record: ApplicationRecord
    /// The active configuration.
    public var configuration: ApplicationConfiguration

    /// Creates an application.
    public init(record: ApplicationRecord, configuration: ApplicationConfiguration) {
        self.record = record
        self.configuration = configuration
    }
}

/// The applications of a node, cached until the scope `server` changes.
public final class ApplicationDirectory: Sendable {
    private struct Cache {
        var head: ChangeNumber?
        var applications: [String: ActiveApplication] = [:]
        /// The active versions that cannot be read, by application.
        var unreadable: [String: Int] = [:]
    }

    private let state: any ServerState
    private let cache = Mutex(Cache())

    /// Creates a directory.
    public init(state: any ServerState) { self.state = state }

    /// Returns an application that has an active configuration; `nil` without one.
    ///
    /// - Throws: ``ServerStateError``; `damaged` if the stored configuration cannot be read.
    public func application(named name: String) async throws(ServerStateError) -> ActiveApplication? {
        let current = try await current()
        if let version = current.unreadable[name] {
            throw .damaged(reason: "the configuration \(version) of \(name) cannot be read by this build")
        }
        return current.applications[name]
    }

    /// Returns all applications with a readable active configuration in the order of their names.
    public func all() async throws(ServerStateError) -> [ActiveApplication] {
        try await current().applications.values.sorted { $0.record.name < $1.record.name }
    }

    /// Returns the active versions that this build cannot read, by application. The other applications are served.
    public func unreadable() async throws(ServerStateError) -> [String: Int] { try await current().unreadable }

    private func current() async throws(ServerStateError) -> Cache {
        let head = try await state.head(of: ChangeNumberScope.server)
        if let known = cache.withLock({ $0.head == head ? $0 : nil }) { return known }
        var (applications, unreadable): ([String: ActiveApplication], [String: Int]) = ([:], [:])
        for record in try await state.applications.all() where record.activeVersion > 0 {
            guard let stored = try await state.applications.configuration(record.activeVersion, of: record.id)
            else { continue }
            do {
                let configuration = try ApplicationConfiguration(canonicalJSON: stored.body)
                applications[record.name] = ActiveApplication(record: record, configuration: configuration)
            } catch {
                unreadable[record.name] = stored.version
            }
        }
        let read = Cache(head: head, applications: applications, unreadable: unreadable)
        cache.withLock { $0 = read }
        return read
    }
}
