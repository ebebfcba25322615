import MobileProtocol
import ODataModel
import ODataService
import ServerState

/// The sets of the device services as entities, for reads with the whole query language.
struct ServiceSets: Sendable {
    /// The names of the sets.
    static let names: Set = ["Uploads", "Shared", "Messages", "Subscriptions", "Bundles"]
    /// The names of the sets of the group `system`, which devices change.
    static let systemNames: Set = ["LogRecords", "PersonalizationValues"]

    let shapes: DeviceModel
    let state: any ServerState

    /// Returns the entities of a set that a registration sees.
    func entities(of set: String, _ registration: RegistrationRecord) async throws(ServerStateError) -> [ODataEntity] {
        let services = try state.deviceServices()
        switch set {
        case "Uploads":
            return try await services.uploads.uploads(
                DeviceUploadFilter(application: registration.application, registration: registration.id)
            ).map(upload)
        case "Shared":
            var entities: [ODataEntity] = []
            for scope in SharedDocumentScope.allCases {
                entities += try await services.sharedDocuments.documents(
                    of: registration.application, scope: scope,
                    owner: DeviceSharedStorage.owner(scope, registration)
                ).map(document)
            }
            return entities
        case "Messages":
            return try await services.messages.messages(
                of: registration.id, of: registration.application, after: 0, limit: DeviceMessageLimits.waiting
            ).map(message)
        case "Subscriptions":
            return try await services.messages.subscriptions(
                of: registration.id, of: registration.application
            ).map(subscription)
        case "LogRecords":
            return try await services.records.logs(of: registration.id, of: registration.application).map(log)
        case "PersonalizationValues":
            return try await services.records.personalization(
                of: registration.user, of: registration.application
            ).map(value)
        case "Bundles": return try await bundles(of: registration, services.bundles).map(bundle)
        default: return []
        }
    }

    /// Returns the bundles that a registration sees: current ones, and one for testers that is its own.
    private func bundles(
        of registration: RegistrationRecord, _ store: any DeviceBundleStore
    ) async throws(ServerStateError) -> [DeviceBundleRecord] {
        try await store.bundles(of: registration.application).filter { Self.isVisible($0, to: registration) }
    }

    private static func isVisible(_ record: DeviceBundleRecord, to registration: RegistrationRecord) -> Bool {
        switch record.stage {
        case .staged: false
        case .testers: registration.device.bundle == "\(record.key.name):\(record.key.version)"
        case .current: true
        }
    }

    /// Returns the bytes of a bundle that a registration sees.
    func stream(
        of key: EntityKey, _ registration: RegistrationRecord
    ) async throws(ServerStateError) -> (record: DeviceBundleRecord, stream: ByteStream)? {
        guard case .string(let name)? = key["Name"], case .string(let version)? = key["Version"] else { return nil }
        let store = try state.deviceServices().bundles
        let key = DeviceBundleKey(application: registration.application, name: name, version: version)
        guard let record = try await store.bundle(key), Self.isVisible(record, to: registration) else { return nil }
        return (record, BundleIntake.stream(record, store))
    }

    private func bundle(_ record: DeviceBundleRecord) -> ODataEntity {
        var entity = entity(
            "Bundle",
            [
                "Name": .string(record.key.name), "Version": .string(record.key.version),
                "Extension": .string(record.fileExtension),
                "SHA256": .string(DeviceDocuments.hexadecimal(record.digest)),
                "Size": .integer(record.size), "Stage": .string(record.stage.rawValue),
                "IsDefault": .boolean(record.isDefault), "Manifest": .text(record.manifest),
            ])
        entity.control.mediaContentType = Self.bundleType
        return entity
    }

    /// The media type of bundles.
    static let bundleType = "application/zip"

    private func entity(_ type: String, _ values: [String: ODataValue]) -> ODataEntity {
        var entity = ODataEntity(shape: shapes.complex(type), values)
        for (ordinal, property) in entity.shape.properties.enumerated() where entity.values[ordinal] == nil {
            entity.values[ordinal] = property.type.isCollection ? .collection([]) : .null
        }
        entity.markUnchanged()
        return entity
    }

    private func upload(_ record: DeviceUploadRecord) -> ODataEntity {
        entity(
            "Upload",
            [
                "ID": .string(record.id), "Kind": .string(record.upload.kind.rawValue),
                "State": .string(record.state.rawValue), "ContentType": .string(record.upload.contentType),
                "Note": .text(record.upload.note), "ConsentedAt": .time(record.upload.consentedAt),
                "Size": record.upload.announcedSize.map { .integer($0) } ?? .null,
                "ReceivedSize": .integer(record.receivedSize),
                "SHA256": .text(record.digest.map(DeviceDocuments.hexadecimal)),
                "CreatedAt": .time(record.createdAt), "ExpiresAt": .time(record.upload.expiresAt),
            ])
    }

    private func document(_ record: SharedDocumentRecord) -> ODataEntity {
        var entity = entity(
            "SharedDocument",
            [
                "Scope": .string(record.key.scope.rawValue), "Key": .string(record.key.name),
                "Size": .integer(Int64(record.size)), "UpdatedAt": .time(record.updatedAt),
            ])
        entity.control.etag = "\"\(record.version)\""
        return entity
    }

    func log(_ record: DeviceLogRecord) -> ODataEntity {
        entity(
            "LogRecord",
            [
                "MessageId": .integer(record.number), "Timestamp": .time(record.at), "Level": .string(record.level),
                "Message": .string(record.message), "Component": .text(record.component),
                "EntityKey": .text(record.entityKey), "Operation": .text(record.operation),
                "Code": record.code.map { .integer(Int64($0)) } ?? .null, "EisCode": .text(record.backEndCode),
                "RequestId": .text(record.requestID),
            ])
    }

    func value(_ record: PersonalizationRecord) -> ODataEntity {
        var entity = entity("PersonalizationValue", ["Key": .string(record.key), "Value": .text(record.value)])
        entity.control.etag = DeviceDocuments.etag(record.version)
        return entity
    }

    func message(_ record: DeviceMessageRecord) -> ODataEntity {
        entity(
            "Message",
            [
                "Number": .integer(record.number), "Kind": .string(record.kind.rawValue),
                "Body": .string(String(decoding: record.body, as: UTF8.self)), "CreatedAt": .time(record.createdAt),
            ])
    }

    private func subscription(_ record: DeviceSubscriptionRecord) -> ODataEntity {
        var entity = entity(
            "Subscription",
            [
                "Destination": .string(record.destination), "Query": .string(record.query),
                "IsSuspended": .boolean(record.isSuspended),
                "Parameters": .text(record.parameters.map { String(decoding: $0, as: UTF8.self) }),
            ])
        entity.control.etag = DeviceDocuments.etag(record.version)
        return entity
    }
}
