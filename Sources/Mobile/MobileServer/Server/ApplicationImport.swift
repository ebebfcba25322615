import Logging
import ServerState

/// Imports applications into a state, and activates their versions.
///
/// ```swift
/// let importer = ApplicationImporter(state: state)
/// let version = try await importer.add(configuration, named: "shop", by: "file", activates: true)
/// ```
public struct ApplicationImporter: Sendable {
    private let state: any ServerState

    /// Creates an importer.
    public init(state: any ServerState) { self.state = state }

    /// Imports the applications of a configuration that the state does not know, and activates them.
    ///
    /// - Returns: The names of the imported applications.
    /// - Throws: `ServerStateError`.
    @discardableResult
    public func importUnknown(_ configuration: ServerConfiguration) async throws(ServerStateError) -> [String] {
        var imported: [String] = []
        for (name, application) in configuration.applications.sorted(by: { $0.key < $1.key }) {
            guard try await state.applications.application(named: name) == nil else { continue }
            _ = try await add(application, named: name, by: "file", activates: true)
            imported.append(name)
        }
        return imported
    }

    /// Adds a version to an application, which is made if it does not exist.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - name: The name of the application.
    ///   - author: The author for version and audit.
    ///   - activates: Whether the version becomes the active one.
    /// - Returns: The version.
    /// - Throws: `ServerStateError`.
    public func add(
        _ configuration: ApplicationConfiguration, named name: String, by author: String, activates: Bool
    ) async throws(ServerStateError) -> ConfigurationRecord {
        var record = try await state.applications.application(named: name)
        if record == nil {
            record = try await state.applications.add(
                named: name, title: configuration.title, domain: configuration.domain, state: configuration.state)
        }
        guard let record else { throw .missing(kind: "application", name: name) }
        let version = try await state.applications.addConfiguration(
            configuration.canonicalJSON(), to: record.id, by: author)
        CrashPoint.pass("version-stored")
        guard activates else { return version }
        try await activate(version.version, of: name, by: author)
        return try await state.applications.configuration(version.version, of: record.id) ?? version
    }

    /// Removes an application with its users, registrations and feeds.
    ///
    /// The feeds are in another file, and go by jobs that may be repeated.
    ///
    /// - Throws: `ServerStateError`, `missing` for an unknown application.
    public func remove(_ name: String, ifMatch etag: ChangeNumber? = nil) async throws(ServerStateError) {
        guard let record = try await state.applications.application(named: name) else {
            throw .missing(kind: "application", name: name)
        }
        try await state.applications.remove(name, ifMatch: etag)
        for feed in try await state.feeds.feeds(of: record.id) {
            try await state.jobs.add(NewJob(kind: .drop, target: "\(feed.id)"))
        }
        await state.signal.send([.scope(ChangeNumberScope.server)])
    }

    /// Activates a version: title and domain of the application follow it. The state follows it if the version
    /// changes it, or if the application is a draft: a version does not end the suspension that an operator ordered.
    ///
    /// - Parameter active: The active version as the author knows it; `nil` if any may be replaced.
    /// - Throws: `ServerStateError`.
    public func activate(
        _ version: Int, of name: String, by author: String, ifActive active: Int? = nil
    ) async throws(ServerStateError) {
        guard let record = try await state.applications.application(named: name) else {
            throw .missing(kind: "application", name: name)
        }
        guard let stored = try await state.applications.configuration(version, of: record.id) else {
            throw .missing(kind: "configuration", name: "\(name) \(version)")
        }
        let configuration: ApplicationConfiguration
        do {
            configuration = try ApplicationConfiguration(canonicalJSON: stored.body)
        } catch {
            throw .damaged(reason: "version \(version) of \(name) cannot be read by this build")
        }
        let former = try await state.applications.configuration(record.activeVersion, of: record.id).flatMap {
            try? ApplicationConfiguration(canonicalJSON: $0.body)
        }
        let isStateChanged = record.state == .draft || former.map { $0.state != configuration.state } ?? true
        _ = try await state.applications.activate(version, of: record.id, ifActive: active)
        _ = try await state.applications.update(
            name, ifMatch: nil,
            ApplicationChange(
                title: configuration.title, domain: configuration.domain,
                state: isStateChanged ? configuration.state : nil))
        _ = try await state.operators.audit(
            AuditNote(
                actor: author, action: "application.activate", target: "\(name)/\(version)", after: stored.hash))
        await state.signal.send([.scope(ChangeNumberScope.server)])
    }
}
