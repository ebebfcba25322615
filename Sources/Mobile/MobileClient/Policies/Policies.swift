import Foundation
import HTTPTypes
import MobileProtocol

/// The policies and features of a registration, as they were last read.
///
/// The library itself applies the rules for passcodes, the orders of the operator and the limit of working offline. The
/// app obeys ``PolicySnapshot/security``.
///
/// ```swift
/// if try await session.policies.isEnabled("scan") { try await showScanner() }
/// for await policies in session.policies.changes { update(policies.security) }
/// ```
public actor Policies {
    /// The time after which the server is asked again although it announces no versions.
    static let longestAge = 3600.0

    private nonisolated let broadcast = Broadcast<PolicySnapshot>()
    private let wire: DeviceWire
    private let records: SessionRecords
    private let clock: MobileClock
    private var snapshot: PolicySnapshot?
    private var etags: [String: String] = [:]
    private var exchange: Task<Result<(policies: PolicySnapshot, isChanged: Bool), MobileError>, Never>?

    init(wire: DeviceWire, records: SessionRecords, clock: MobileClock) {
        self.wire = wire
        self.records = records
        self.clock = clock
    }

    /// The policies of each exchange that changed something.
    public nonisolated var changes: AsyncStream<PolicySnapshot> { broadcast.stream() }

    /// Returns the policies as they are known on the device.
    ///
    /// - Throws: ``MobileError/device(reason:)``.
    public func current() async throws(MobileError) -> PolicySnapshot {
        if let snapshot { return snapshot }
        let kept: PolicySnapshot = try await records.value(SessionRecordNames.policies) ?? PolicySnapshot()
        snapshot = kept
        return kept
    }

    /// Returns whether a feature is on; see ``PolicySnapshot/isEnabled(_:)``.
    ///
    /// - Throws: ``MobileError/device(reason:)``.
    public func isEnabled(_ feature: String) async throws(MobileError) -> Bool {
        try await current().isEnabled(feature)
    }

    /// The seconds since the last exchange with the server; `nil` before the first one.
    public var age: Double? {
        get async throws(MobileError) {
            let known = try await current()
            return known.readAt == 0 ? nil : max(0, clock.now() - known.readAt)
        }
    }

    /// Asks the server for policies and features, and keeps them. Nothing is transferred that the device has.
    ///
    /// The session applies the answer: use ``MobileSession/refreshPolicies()`` in an app.
    ///
    /// - Returns: The policies, and whether they have changed.
    /// - Throws: ``MobileError``.
    func receive() async throws(MobileError) -> (policies: PolicySnapshot, isChanged: Bool) {
        // Two exchanges at once could take an older answer for the newer one.
        if let exchange { return try await waiting(for: exchange) }
        let task = Task { () async -> Result<(policies: PolicySnapshot, isChanged: Bool), MobileError> in
            let result: Result<(policies: PolicySnapshot, isChanged: Bool), MobileError>
            do throws(MobileError) {
                result = .success(try await self.read())
            } catch {
                result = .failure(error)
            }
            self.exchange = nil
            return result
        }
        exchange = task
        return try await waiting(for: task)
    }

    private func read() async throws(MobileError) -> (policies: PolicySnapshot, isChanged: Bool) {
        let old = try await current()
        var new = old
        new.lock.confirmation = nil
        if let (bytes, answer) = try await document("Policies") {
            guard let document = try? JSONDecoder().decode(PolicyDocument.self, from: Data(bytes)) else {
                throw .invalidAnswer(detail: "the policies are not as expected")
            }
            document.apply(to: &new)
            new.version = answer.field(MobileFieldNames.policies) ?? answer.etag
        }
        // A locked device reads its order and no features.
        if new.lock.state == .none, let (bytes, _) = try await document("Features") {
            guard let document = try? JSONDecoder().decode(FeatureDocument.self, from: Data(bytes)) else {
                throw .invalidAnswer(detail: "the features are not as expected")
            }
            document.apply(to: &new)
        }
        // The secret of an order is kept nowhere, so that the next exchange reads it again.
        if new.lock.state != .none { etags["Policies"] = nil }
        let confirmation = new.lock.confirmation
        new.readAt = clock.now()
        // The secret of a wipe is written to no file but that of the wipe.
        new.lock.confirmation = nil
        try await records.set(new, SessionRecordNames.policies)
        snapshot = new
        var compared = old
        compared.readAt = new.readAt
        compared.lock.confirmation = nil
        let isChanged = compared != new
        if isChanged { broadcast.send(new) }
        var given = new
        given.lock.confirmation = confirmation
        return (given, isChanged)
    }

    private func document(_ name: String) async throws(MobileError) -> (bytes: [UInt8], answer: DeviceAnswer)? {
        var fields: [String: String] = [:]
        if let etag = etags[name] { fields["If-None-Match"] = etag }
        let answer = try await wire.document(.get, name, fields: fields)
        guard answer.status != 304 else { return nil }
        etags[name] = answer.etag
        return (answer.bytes, answer)
    }

    /// Whether the server has announced a version that is not the known one.
    func isOutdated(_ version: String) async -> Bool {
        guard let known = try? await current() else { return true }
        return known.version != version
    }

    /// Forgets the ETags, so that the next exchange reads everything.
    func forgetTags() { etags = [:] }

    func forget() {
        snapshot = nil
        etags = [:]
    }
}
