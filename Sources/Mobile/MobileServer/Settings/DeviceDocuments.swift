import Crypto
import Foundation
import MobileProtocol
import ODataModel
import ODataService
import ServerState

/// Makes the documents of a registration: policies, features, settings, and their versions.
struct DeviceDocuments: Sendable {
    let shapes: DeviceModel
    let state: any ServerState

    /// The sections of policies that apply to a registration, with their version.
    struct Policies: Sendable {
        var sections: PolicySections
        var version: Int64
    }

    /// Returns the policies of a registration.
    ///
    /// The version is a digest of the versions of everything that counts. It is compared for equality only, so that a
    /// number that is given again after lost commits does no harm (`design-review.md` 8).
    func policies(of request: DeviceRequest, _ registration: RegistrationRecord) async throws -> Policies {
        let application = request.application
        let rows = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.policies(of: application.record.id)
        }
        let roles = request.user?.roles ?? []
        let user = String(registration.user)
        let order = ["application", "role", "user", "registration"]
        let own = rows.filter { row in
            switch row.scope {
            case "application": true
            case "role": roles.contains(row.target)
            case "user": row.target == user
            case "registration": row.target == registration.id
            default: false
            }
        }.sorted { left, right in
            let (a, b) = (order.firstIndex(of: left.scope) ?? 0, order.firstIndex(of: right.scope) ?? 0)
            return (a, left.target, left.name) < (b, right.target, right.name)
        }
        var sections = PolicySections(application.configuration.policies, shapes)
        var version = VersionDigest()
        version.add(application.record.id, Int64(application.record.activeVersion))
        version.add(registration.lockVersion, Int64(registration.device.traceLevel))
        version.add(registration.device.bundle ?? "")
        for row in own {
            // A row that an older build wrote may not fit any more; it must not keep the lock from a device.
            try? sections.merge(row.name, row.body)
            version.add(row.scope)
            version.add(row.target)
            version.add(row.name)
            version.add(row.version)
        }
        return Policies(sections: sections, version: version.value)
    }

    /// Returns the entity `Policies`.
    func entity(
        _ policies: Policies, of registration: RegistrationRecord, in configuration: ApplicationConfiguration
    ) -> ODataEntity {
        var entity = ODataEntity(shape: shapes.policies)
        for name in PolicySections.names where name != PolicySections.features {
            entity[name] = policies.sections[name]
        }
        entity["Version"] = .integer(policies.version)
        entity["Lock"] = .complex(lock(of: registration))
        entity["DeviceProof"] = .string(configuration.registration.deviceProof.rawValue)
        entity["Bundle"] = (registration.device.bundle ?? configuration.defaultBundle).map { .string($0) } ?? .null
        entity["TraceLevel"] = .integer(Int64(registration.device.traceLevel))
        entity.control.etag = Self.etag(policies.version)
        entity.markUnchanged()
        return entity
    }

    private func lock(of registration: RegistrationRecord) -> ODataEntity {
        var lock = ODataEntity(shape: shapes.complex("LockOrder"))
        lock["State"] = .string(registration.lock.wireName)
        lock["Version"] = .integer(registration.lockVersion)
        lock["Confirmation"] = registration.lockConfirmation.map { .string(Base64URL.encode($0)) } ?? .null
        return lock
    }

    /// Returns the entity `Features`.
    func features(_ policies: Policies) -> ODataEntity {
        var entity = ODataEntity(shape: shapes.features)
        if case .complex(let features)? = policies.sections[PolicySections.features] {
            entity["All"] = features["All"]
            entity["Switches"] = features["Switches"]
        }
        entity["Version"] = .integer(policies.version)
        entity.control.etag = Self.etag(policies.version)
        entity.markUnchanged()
        return entity
    }

    /// Returns the entities of settings.
    func settings(_ records: [SettingRecord]) -> [ODataEntity] {
        records.map { record in
            var entity = ODataEntity(shape: shapes.setting)
            entity["Name"] = .string(record.name)
            entity["Value"] = record.value.map { .string($0) } ?? .null
            entity["IsReadOnly"] = .boolean(record.isReadOnly)
            entity.markUnchanged()
            return entity
        }
    }

    /// Returns the entity of a registration.
    ///
    /// - Parameter user: The name of the user.
    func entity(_ record: RegistrationRecord, user: String?) -> ODataEntity {
        func text(_ text: String?) -> ODataValue { text.map { .string($0) } ?? .null }
        let device = record.device
        var entity = ODataEntity(shape: shapes.registration)
        entity["ID"] = .string(record.id)
        entity["SecurityConfiguration"] = .string(record.security)
        entity["UserName"] = text(user)
        entity["State"] = .integer(Int64(record.state.rawValue))
        entity["DeviceType"] = text(device.deviceType)
        entity["DeviceModel"] = text(device.deviceModel)
        entity["OSVersion"] = text(device.osVersion)
        entity["AppVersion"] = text(device.appVersion)
        entity["Locale"] = text(device.locale)
        entity["FormFactor"] = text(device.formFactor)
        entity["PushKind"] = .string(device.pushKind)
        // The target is a secret of the device, which nobody reads back.
        entity["PushTarget"] = .null
        entity["PushEnabled"] = .boolean(device.isPushEnabled)
        entity["NotificationMode"] = .string(device.notificationMode)
        entity["KeyThumbprint"] = text(record.publicKey.flatMap { DeviceKey(bytes: $0) }?.thumbprint)
        entity["CertificateSerial"] = text(record.certificateSerial.map(Self.hexadecimal))
        entity["CertificateUntil"] = record.certificateUntil.map { .dateTimeOffset(ODataDateTimeOffset($0)) } ?? .null
        entity["Bundle"] = text(device.bundle)
        entity["TraceLevel"] = .integer(Int64(device.traceLevel))
        entity["CreatedAt"] = .dateTimeOffset(ODataDateTimeOffset(record.createdAt))
        entity.control.etag = Self.etag(record.etag)
        entity.markUnchanged()
        return entity
    }

    /// Returns the ETag of a version.
    static func etag(_ version: Int64) -> String { "W/\"\(version)\"" }

    /// Returns bytes as hexadecimal digits.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension DeviceLock {
    /// The name in `Policies/Lock`.
    var wireName: String {
        switch self {
        case .none: "none"
        case .locked: "lock"
        case .wipe: "wipe"
        }
    }
}

extension ODataDateTimeOffset {
    /// Creates a value from a moment of the state, in UTC.
    init(_ instant: ServerInstant) {
        let seconds = instant.rawValue.quotientAndRemainder(dividingBy: 1_000_000)
        let floor = seconds.remainder < 0 ? seconds.quotient - 1 : seconds.quotient
        self.init(seconds: floor, picoseconds: (instant.rawValue - floor * 1_000_000) * 1_000_000)
    }
}

/// A digest of numbers and texts, of 63 bits.
struct VersionDigest {
    private var digest = SHA256()

    mutating func add(_ numbers: Int64...) {
        for number in numbers { digest.update(data: withUnsafeBytes(of: number.bigEndian) { Array($0) }) }
    }

    mutating func add(_ text: String) {
        add(Int64(text.utf8.count))
        digest.update(data: Array(text.utf8))
    }

    /// The digest as a positive number.
    var value: Int64 {
        let bytes = Array(digest.finalize().prefix(8))
        return Int64(bitPattern: bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) } & UInt64(Int64.max))
    }
}
