import ODataModel
import ODataService
import ServerState

/// The model of the operators' API, and the entities of its sets.
struct OperatorModel: Sendable {
    let model: EntityDataModel

    /// Reads the model.
    ///
    /// - Throws: ``CSDLError`` if the embedded text was damaged.
    init() throws(CSDLError) { model = try CSDLReader.read(Array(OperatorMetadata.csdl.utf8)) }

    /// Returns an entity of a set.
    ///
    /// - Parameter etag: The version of the row; `nil` for a digest of the values.
    func entity(_ set: String, _ values: [String: ODataValue], etag: ChangeNumber? = nil) -> ODataEntity {
        let shape = model.shape(ofSet: set) ?? TypeShape(dynamic: QualifiedName("", set), properties: [])
        var entity = ODataEntity(shape: shape, values)
        for (ordinal, property) in shape.properties.enumerated() where entity.values[ordinal] == nil {
            entity.values[ordinal] = property.type.isCollection ? .collection([]) : .null
        }
        var digest = VersionDigest()
        for value in entity.values { digest.add("\(value ?? .null)") }
        entity.control.etag = DeviceDocuments.etag(etag ?? digest.value)
        entity.markUnchanged()
        return entity
    }

    /// Returns a complex value.
    func complex(_ type: String, _ values: [String: ODataValue]) -> ODataEntity {
        let name = QualifiedName(OperatorMetadata.namespace, type)
        return ODataEntity(shape: model.shape(name) ?? TypeShape(dynamic: name, properties: []), values)
    }

    // MARK: Entities

    func application(_ record: ApplicationRecord) -> ODataEntity {
        entity(
            "Applications",
            [
                "Name": .string(record.name), "Title": .string(record.title), "Domain": .string(record.domain),
                "State": .string(record.state.rawValue), "ActiveVersion": .integer(Int64(record.activeVersion)),
                "CreatedAt": .time(record.createdAt),
            ], etag: record.etag)
    }

    func user(_ record: UserRecord, application: String) -> ODataEntity {
        entity(
            "Users",
            [
                "ID": .integer(record.id), "Application": .string(application), "Issuer": .string(record.issuer),
                "Subject": .string(record.subject), "Name": .string(record.name),
                "IsLocked": .boolean(record.isLocked), "CreatedAt": .time(record.createdAt),
            ])
    }

    func registration(_ record: RegistrationRecord, application: String, user: String?) -> ODataEntity {
        let device = record.device
        return entity(
            "Registrations",
            [
                "Application": .string(application), "ID": .string(record.id), "UserID": .integer(record.user),
                "UserName": .text(user), "SecurityConfiguration": .string(record.security),
                "State": .integer(Int64(record.state.rawValue)), "Lock": .string(record.lock.wireName),
                "IsLockConfirmed": .boolean(record.isLockConfirmed), "DeviceType": .text(device.deviceType),
                "DeviceModel": .text(device.deviceModel), "OSVersion": .text(device.osVersion),
                "AppVersion": .text(device.appVersion), "Locale": .text(device.locale),
                "PushKind": .string(device.pushKind), "Bundle": .text(device.bundle),
                "TraceLevel": .integer(Int64(device.traceLevel)),
                "KeyThumbprint": .text(record.publicKey.flatMap { DeviceKey(bytes: $0) }?.thumbprint),
                "CertificateSerial": .text(record.certificateSerial.map(DeviceDocuments.hexadecimal)),
                "CertificateUntil": .time(record.certificateUntil), "SeenAt": .time(record.seenAt),
                "CreatedAt": .time(record.createdAt), "Change": .integer(record.change),
            ])
    }

    func setting(_ record: SettingRecord, of registration: String, application: String) -> ODataEntity {
        entity(
            "Settings",
            [
                "Application": .string(application), "Registration": .string(registration),
                "Name": .string(record.name), "Value": .text(record.value), "IsReadOnly": .boolean(record.isReadOnly),
            ])
    }

    func policy(_ record: PolicyRecord, application: String) -> ODataEntity {
        entity(
            "Policies",
            [
                "Application": .string(application), "Scope": .string(record.scope), "Target": .string(record.target),
                "Name": .string(record.name), "Body": .string(String(decoding: record.body, as: UTF8.self)),
                "Version": .integer(record.version),
            ], etag: record.version)
    }

    func directoryUser(_ record: DirectoryUserRecord, application: String) -> ODataEntity {
        entity(
            "DirectoryUsers",
            [
                "Application": .string(application), "Name": .string(record.name),
                "Roles": .collection(record.roles.map { .string($0) }), "IsLocked": .boolean(record.isLocked),
            ], etag: record.change)
    }

    func operatorEntity(_ record: OperatorRecord) -> ODataEntity {
        entity(
            "Operators",
            [
                "Name": .string(record.name), "Role": .string(record.role.rawValue),
                "IsLocked": .boolean(record.isLocked),
                "HasCredentials": .boolean(record.password != nil && record.totp != nil),
                "CreatedAt": .time(record.createdAt),
            ], etag: record.etag)
    }

    func serviceKey(_ record: ServiceKeyRecord, application: String?, secret: String? = nil) -> ODataEntity {
        entity(
            "ServiceKeys",
            [
                "ID": .string(record.id), "Application": .text(application),
                "Roles": .collection(record.roles.map { .string($0) }), "ExpiresAt": .time(record.expiresAt),
                "Secret": .text(secret), "CreatedAt": .time(record.createdAt),
            ], etag: record.change)
    }

    func approval(_ record: ApprovalRecord) -> ODataEntity {
        entity(
            "Approvals",
            [
                "ID": .integer(record.id), "Action": .string(record.action),
                "Body": .string(String(decoding: record.body, as: UTF8.self)),
                "RequestedBy": .string(record.requestedBy), "ApprovedBy": .text(record.approvedBy),
                "ExpiresAt": .time(record.expiresAt),
            ])
    }
}

extension ODataValue {
    /// A text, or null.
    static func text(_ text: String?) -> ODataValue { text.map { .string($0) } ?? .null }

    /// A moment, or null.
    static func time(_ instant: ServerInstant?) -> ODataValue {
        instant.map { .dateTimeOffset(ODataDateTimeOffset($0)) } ?? .null
    }
}
