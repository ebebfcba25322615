import Crypto
import Foundation
import HTTPTypes
import MobileProtocol
import ODataModel
import ODataService
import Secrets
import ServerState

/// The registration of devices with a CAPTCHA, an activation code and a device key.
struct DeviceRegistrations: Sendable {
    /// The result of a registration.
    struct Registered {
        var record: RegistrationRecord
        /// Whether the registration is new, which is answered with 201.
        var isNew: Bool
    }

    let state: any ServerState
    let keys: ServerKeys
    let captchas: Captchas
    let signIn: UserSignIn
    let limits: RegistrationRate
    let clock: @Sendable () -> ServerInstant

    /// Registers a device.
    ///
    /// - Parameters:
    ///   - id: The id that the device has chosen.
    ///   - name: The name of the security configuration; `nil` for the only one.
    func register(
        _ id: String, security name: String?, device: DeviceProperties, by caller: DeviceRequest
    ) async throws -> Registered {
        let application = caller.application
        try Self.check(id)
        guard let (security, kind) = application.configuration.signIn(named: name) else {
            throw ODataError(
                .securityConfigurationUnknown,
                name.map { "There is no security configuration \($0)." }
                    ?? "The application has several security configurations. Name one in SecurityConfiguration.",
                target: "SecurityConfiguration")
        }
        let rules = application.configuration.registration
        let isActivation = kind.kind == .activation
        let code = try activationCode(caller, isNeeded: isActivation || rules.needsActivation)
        let outcome = try await signIn.identify(caller, by: security, registration: id)
        let user = try await self.user(outcome, security, code: isActivation ? code : nil, application: application)
        try checkKey(caller)
        // Signed-in users are bounded by the number of their devices (`design-review.md` 25).
        if !kind.hasCredentials, code == nil { try limits.admit(caller.context.countedAddress) }
        let mayBeProgram = rules.captcha == .always || rules.captcha == .anonymous && !kind.hasCredentials
        if mayBeProgram, try await !isRepeat(id, user, for: caller) { try await requireCaptcha(caller) }
        return try await register(id, user, security: (security, kind), device: device, code: code, for: caller)
    }

    private func register(
        _ id: String, _ user: UserRecord, security: (name: String, configuration: SecurityConfiguration),
        device: DeviceProperties, code: [UInt8]?, for caller: DeviceRequest
    ) async throws -> Registered {
        let application = caller.application
        let new = NewRegistration(
            application: application.record.id, id: id, user: user.id, security: security.name, device: device,
            publicKey: caller.proof?.key.bytes,
            settings: security.configuration.defaults.sorted { $0.key < $1.key }.map {
                SettingRecord(name: $0.key, value: $0.value.value, isReadOnly: $0.value.isReadOnly)
            },
            devicesPerUser: application.configuration.registration.devicesPerUser, activation: code,
            replacesKey: security.configuration.hasCredentials)
        let outcome = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.register(new)
        }
        switch outcome {
        case .created(let record): return Registered(record: record, isNew: true)
        case .repeated(let record), .keyReplaced(let record): return Registered(record: record, isNew: false)
        case .alreadyRegistered:
            throw ODataError(
                .alreadyRegistered, "The id is registered with another key or by another user.", target: "ID")
        case .tooManyDevices(let limit):
            throw ODataError(
                .policyViolated, "The user has \(limit) registrations, which is the limit. Remove one of them.")
        case .activationInvalid: throw Self.invalidCode
        case .activationOfAnotherDevice:
            throw ODataError(.activationCodeOfAnotherDevice, "The activation code was used by another device.")
        case .wrongUser:
            throw ODataError(.wrongUserForRegistration, "The activation code is for another user.")
        }
    }

    /// Checks the id of a registration, which is a part of URLs and header fields.
    static func check(_ id: String) throws(ODataError) {
        guard (1...RegistrationLimits.idLength).contains(id.count) else {
            throw ODataError(
                .invalidProperty, "ID has 1 to \(RegistrationLimits.idLength) characters, chosen by the device.",
                target: "ID")
        }
        let isPlain = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "@"):
                true
            default: false
            }
        }
        guard isPlain else {
            throw ODataError(
                .invalidProperty, "ID consists of letters, digits and the characters - _ . ~ : @.", target: "ID")
        }
    }

    // MARK: Users

    private func user(
        _ outcome: UserSignIn.Outcome, _ security: String, code: [UInt8]?, application: ActiveApplication
    ) async throws -> UserRecord {
        var user: DeviceUser
        switch outcome {
        case .user(let known): user = known
        case .none:
            guard let code else { throw Self.unauthorized }
            let activation = try await translatingState { () async throws(ServerStateError) in
                try await state.registrations.activation(code, of: application.record.id)
            }
            guard let activation else { throw Self.invalidCode }
            user = DeviceUser(issuer: "activation:\(security)", subject: activation.userName)
        }
        user.name = String(user.name.prefix(RegistrationLimits.userNameLength))
        let record = try await translatingState { [user] () async throws(ServerStateError) in
            try await state.registrations.user(
                of: application.record.id, issuer: user.issuer, subject: user.subject,
                makingWith: user.name)
        }
        guard let record else { throw Self.unauthorized }
        guard !record.isLocked else { throw ODataError(.deviceLocked, "The user is locked.") }
        return record
    }

    static let unauthorized = ODataError(.unauthorized, "The request needs credentials of the security configuration.")
    private static let invalidCode = ODataError(
        .activationCodeInvalid, "The activation code is unknown, used or expired.")

    private func activationCode(_ caller: DeviceRequest, isNeeded: Bool) throws -> [UInt8]? {
        guard let text = caller.head.mobileField(MobileFieldNames.activation) else {
            guard !isNeeded else {
                throw ODataError(
                    .automaticRegistrationDisabled,
                    "The application takes no registration without an activation code. Ask its operator for one.")
            }
            return nil
        }
        guard let code = ActivationCode(text) else { throw Self.invalidCode }
        return code.digest(key: keys.key(.codes).symmetricKey)
    }

    // MARK: Checks

    private func checkKey(_ caller: DeviceRequest) throws(ODataError) {
        guard caller.application.configuration.registration.deviceProof != .none, caller.proof == nil else { return }
        throw ODataError(
            .proofRequired, "The registration needs a device proof in the field \(MobileFieldNames.proof).")
    }

    /// Returns whether the same user has registered the id with the same key before, for which no CAPTCHA is needed.
    private func isRepeat(_ id: String, _ user: UserRecord, for caller: DeviceRequest) async throws -> Bool {
        let known = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.registration(id, of: caller.application.record.id)
        }
        guard let known, known.state == .registered, known.user == user.id, let key = known.publicKey else {
            return false
        }
        return key == caller.proof?.key.bytes
    }

    private func requireCaptcha(_ caller: DeviceRequest) async throws {
        let now = clock().rawValue / 1_000_000
        let name = caller.application.record.name
        guard let answer = caller.head.mobileField(MobileFieldNames.captcha) else {
            throw try challenge(name, roundsLeft: Captchas.rounds, at: now)
        }
        switch captchas.check(answer, for: name, at: now) {
        case .solved(let id, let expires):
            let isFirst = try await translatingState { () async throws(ServerStateError) in
                try await state.once.use(
                    Array(id.utf8), .captcha, until: ServerInstant(rawValue: (expires + 60) * 1_000_000))
            }
            if !isFirst { throw try challenge(name, roundsLeft: Captchas.rounds - 1, at: now) }
        case .wrong(let left):
            guard left > 0 else {
                throw ODataError(
                    .tooManyRequests, "The CAPTCHA was not solved. Try again later.",
                    retryAfter: Int(Captchas.lifetime))
            }
            throw try challenge(name, roundsLeft: left, at: now)
        }
    }

    private func challenge(_ application: String, roundsLeft: Int, at now: Int64) throws -> ODataError {
        let challenge = try captchas.make(for: application, roundsLeft: roundsLeft, at: now)
        var error = ODataError(
            .captchaRequired,
            "Read the image, and send challenge and text in the field \(MobileFieldNames.captcha).")
        let image = Data(challenge.image).base64EncodedString()
        let expires = ODataDateTimeOffset(seconds: challenge.expires)
        error.innerError =
            #"{"id":"\#(challenge.id)","image":"\#(image)","expires":"\#(expires)","roundsLeft":\#(roundsLeft)}"#
        return error
    }
}

extension HTTPRequest {
    /// Returns the value of a field of this protocol; `nil` if it is missing.
    func mobileField(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { headerFields[$0] }
    }
}
