import Foundation
import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataServer
import ODataService
import ServerState

/// The checks of a request before the device API answers it: application, registration, user, proof, lock and rate.
struct DeviceDoor: Sendable {
    let state: any ServerState
    let signIn: UserSignIn
    let nonces: ProofNonces
    let documents: DeviceDocuments
    let rate: DeviceRate
    let reads: ProofMemory
    let clock: @Sendable () -> ServerInstant

    /// The resource of a request below the application, as far as the checks need it.
    struct Resource {
        /// The path below the application, without query: `Policies`, `d/shop/Orders`.
        var path: String
        /// The external URL of the request, with which a proof is compared.
        var url: String

        var isBatch: Bool { path == "$batch" }
        var isProxied: Bool { path.hasPrefix("d/") }
        var isMetadata: Bool { path.isEmpty || path == "$metadata" }
        var isConfirm: Bool { path.hasPrefix("Registrations(") && path.hasSuffix("/Outpost.Mobile.Confirm") }
        var isEnroll: Bool { path.hasPrefix("Registrations(") && path.hasSuffix("/Outpost.Mobile.Enroll") }
        /// Whether a locked device may use the resource: it reads its order, and confirms it.
        var isOfLockedDevice: Bool { isConfirm || isMetadata || path == "Policies" || path.hasPrefix("Policies/") }

        /// The id in `Registrations('ID')…`.
        var registration: String? {
            let text = path.removingPercentEncoding ?? path
            guard text.hasPrefix("Registrations('"), let end = text.range(of: "')") else { return nil }
            return String(text[..<end.lowerBound].dropFirst("Registrations('".count))
        }
    }

    /// Makes the checks.
    ///
    /// - Returns: The request with everything that is known of its caller.
    /// - Throws: ``ODataError``, or ``DeviceProofError`` for 401 with a new nonce.
    func check(_ request: DeviceRequest, _ resource: Resource) async throws -> DeviceRequest {
        var request = request
        try UserSignIn.requireSecrecy(request.head, request.context)
        if let text = request.head.mobileField(MobileFieldNames.proof) {
            request.proof = try checked(DeviceProof(text), request, resource: resource)
        }
        let named = request.head.mobileField(MobileFieldNames.registration)
        let isRegistering = resource.path == "Registrations" && request.head.method == .post
        // A device reads the metadata before its registration exists, with the same fields.
        guard let id = named ?? resource.registration, !isRegistering, !resource.isMetadata else {
            return try await withoutDevice(request, resource, isRegistering: isRegistering)
        }
        return try await withDevice(id, request, resource: resource)
    }

    // MARK: Without a registration

    /// Identifies a user without a device, as far as the resource needs one.
    private func withoutDevice(
        _ request: DeviceRequest, _ resource: Resource, isRegistering: Bool
    ) async throws -> DeviceRequest {
        var request = request
        if isRegistering || resource.isMetadata || resource.isBatch {
            if request.head.method == .post { try await spend(request) }
            return request
        }
        if resource.isProxied, request.application.configuration.needsRegistration {
            throw ODataError(
                .registrationUnknown,
                "The application needs a registration, named in the field \(MobileFieldNames.registration).")
        }
        for name in Self.order(of: request.application.configuration, for: request.head) {
            guard case .user(var user) = try await signIn.identify(request, by: name, registration: Self.nobody) else {
                continue
            }
            user.name = String(user.name.prefix(RegistrationLimits.userNameLength))
            request.user = user
            request.security = name
            break
        }
        guard let user = request.user else { throw DeviceRegistrations.unauthorized }
        request.record = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.user(
                of: request.application.record.id, issuer: user.issuer, subject: user.subject, makingWith: user.name)
        }
        if request.record?.isLocked == true { throw ODataError(.deviceLocked, "The user is locked.") }
        if !Self.isFurtherPage(request.head, resource) {
            try rate.admit("\(request.application.record.name) \(request.context.countedAddress) \(user.subject)")
        }
        return request
    }

    /// Returns the names of the security configurations that identify a user without a device.
    ///
    /// Credentials are tried first. Somebody with wrong credentials does not become an anonymous user.
    private static func order(of configuration: ApplicationConfiguration, for head: HTTPRequest) -> [String] {
        let names = configuration.security.keys.sorted()
        let identifying = names.filter { configuration.security[$0]?.hasCredentials ?? false }
        guard identifying.isEmpty || head.headerFields[.authorization] == nil else { return identifying }
        return identifying + names.filter { !identifying.contains($0) }
    }

    /// The subject of anonymous users without a registration.
    private static let nobody = "*"

    /// Uses up a proof of a registration, which is a change.
    private func spend(_ request: DeviceRequest) async throws {
        if let proof = request.proof { try await use(proof, ofChange: true) }
    }

    // MARK: With a registration

    private func withDevice(
        _ id: String, _ known: DeviceRequest, resource: Resource
    ) async throws -> DeviceRequest {
        var request = known
        let application = request.application
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.registration(id, of: application.record.id)
        }
        guard var record, record.state != .unregistered else {
            throw ODataError(.registrationUnknown, "There is no registration with this id.")
        }
        request.registration = record
        let isBare = request.head.headerFields[.authorization] == nil && request.proof == nil
        if resource.isConfirm, isBare, record.lock == .wipe {
            request.isConfirmation = true
            return request
        }
        try await identify(&request, record)
        try await checkProof(request, record, resource: resource)
        if !Self.isFurtherPage(request.head, resource) { try rate.admit("\(application.record.name)/\(id)") }
        record = try await lockInactive(record, application)
        request.registration = record
        request.versions = DeviceVersions(
            policies: try await documents.policies(of: request, record).version, settings: record.settingsVersion)
        if record.lock != .none, !resource.isOfLockedDevice {
            throw DeviceLockedError(lock: record.lock, versions: request.versions)
        }
        return request
    }

    private func identify(_ request: inout DeviceRequest, _ record: RegistrationRecord) async throws {
        let row = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.user(record.user)
        }
        guard let row else { throw ODataError(.registrationUnknown, "The user of the registration was removed.") }
        guard let security = request.application.configuration.security[record.security] else {
            throw ODataError(
                .securityConfigurationUnknown, "The security configuration of the registration was removed.")
        }
        var user: DeviceUser
        if security.hasCredentials {
            guard
                case .user(let known) = try await signIn.identify(request, by: record.security, registration: record.id)
            else { throw DeviceRegistrations.unauthorized }
            user = known
        } else {
            // The device key, or the random id of the registration, identifies the user.
            user = DeviceUser(
                issuer: row.issuer, subject: row.subject, name: row.name, roles: Set(security.roles))
        }
        guard user.issuer == row.issuer, user.subject == row.subject else {
            throw ODataError(.wrongUserForRegistration, "The registration belongs to another user.")
        }
        guard !row.isLocked else { throw ODataError(.deviceLocked, "The user is locked.") }
        user.name = row.name
        request.user = user
        request.record = row
        request.security = record.security
    }

    private func checkProof(
        _ request: DeviceRequest, _ record: RegistrationRecord, resource: Resource
    ) async throws {
        let rule = request.application.configuration.registration.deviceProof
        guard rule != .none else { return }
        guard let proof = request.proof else {
            throw ODataError(
                .proofRequired, "The registration needs a device proof in the field \(MobileFieldNames.proof).")
        }
        guard let key = record.publicKey, key == proof.key.bytes else { throw DeviceProofError.otherKey }
        if rule == .certificate, !resource.isEnroll, !resource.isOfLockedDevice {
            guard let certificate = request.certificate, certificate.serial == record.certificateSerial,
                record.certificateUntil.map({ $0 > clock() }) ?? false
            else {
                throw ODataError(
                    .unauthorized, "The device certificate is missing, was replaced, or has expired. Enroll again.")
            }
        }
        try await use(proof, ofChange: ![.get, .head].contains(request.head.method))
    }

    /// Locks a device that was not seen for the days of the policy.
    private func lockInactive(
        _ record: RegistrationRecord, _ application: ActiveApplication
    ) async throws -> RegistrationRecord {
        let days = application.configuration.policies.lock.inactiveDays
        guard days > 0, record.lock == .none, clock() - (record.seenAt ?? record.createdAt) > .seconds(days * 86_400)
        else { return record }
        let locked = try await translatingState { () async throws(ServerStateError) in
            let locked = try await state.registrations.setLock(
                .locked, confirmation: nil, registration: record.id, of: record.application)
            _ = try await state.operators.audit(
                AuditNote(
                    actor: "server", action: "device.lock", target: "\(application.record.name)/\(record.id)",
                    detail: Array(#"{"reason":"inactive"}"#.utf8)))
            return locked
        }
        await state.signal.send([.scope(application.record.name)])
        return locked
    }

    // MARK: Proofs

    private func checked(
        _ proof: DeviceProof, _ request: DeviceRequest, resource: Resource
    ) throws(DeviceProofError) -> DeviceProof {
        let now = clock().rawValue / 1_000_000
        let check = ProofCheck(
            method: request.head.method.rawValue, url: resource.url,
            authorization: request.head.headerFields[.authorization],
            nonceAge: proof.nonce.flatMap { nonces.age(of: $0, at: now) }, now: now)
        try check.check(proof)
        return proof
    }

    /// Uses a proof once: on all nodes for a change, on this node for a read (`design-review.md` 23).
    private func use(_ proof: DeviceProof, ofChange: Bool) async throws {
        let id = proof.key.bytes + Array(proof.id.utf8)
        let lifetime = ProofNonces.lifetime + ProofCheck.lifetime
        guard reads.use(id, until: clock() + .seconds(lifetime), now: clock()) else { throw DeviceProofError.used }
        guard ofChange else { return }
        let isFirst = try await translatingState { () async throws(ServerStateError) in
            let now = try await state.now()
            return try await state.once.use(id, .proof, until: now + .seconds(lifetime))
        }
        guard isFirst else { throw DeviceProofError.used }
    }

    /// Returns whether a request follows a next link of a destination, which no rate counts (`design-review.md` 25).
    static func isFurtherPage(_ head: HTTPRequest, _ resource: Resource) -> Bool {
        guard resource.isProxied, head.method == .get, let path = head.path, let mark = path.firstIndex(of: "?") else {
            return false
        }
        return path[mark...].dropFirst().split(separator: "&").contains { option in
            ["$skiptoken", "%24skiptoken", "skiptoken"].contains(option.prefix { $0 != "=" }.lowercased())
        }
    }
}

/// The refusal of a request of a locked device.
struct DeviceLockedError: Error {
    var lock: DeviceLock
    var versions: DeviceVersions?

    var error: ODataError {
        lock == .wipe
            ? ODataError(.deviceWiped, "The device has to erase the data of the app. Read Policies.")
            : ODataError(.deviceLocked, "The device is locked. Read Policies.")
    }
}

extension ApplicationConfiguration {
    /// Whether destinations take requests of registrations only (`mobile-server.md` 0.2).
    var needsRegistration: Bool {
        if let isRequired = registration.isRequired { return isRequired }
        return destinations.values.contains { destination in
            destination.queries.values.contains { $0.visibility == .user || $0.visibility == .partitioned }
        }
    }
}
