// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Outpost.Mobile.Registration`.
public struct MobileRegistration: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Registration")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `ID`, Edm.String, not null, at most 128.
    public var id: String? {
        get { odataEntity.typedValue(0, "ID") }
        set { odataEntity.setTypedValue(0, "ID", newValue) }
    }

    /// `SecurityConfiguration`, Edm.String, at most 128.
    public var securityConfiguration: String? {
        get { odataEntity.typedValue(1, "SecurityConfiguration") }
        set { odataEntity.setTypedValue(1, "SecurityConfiguration", newValue) }
    }

    /// `UserName`, Edm.String, at most 255.
    public var userName: String? {
        get { odataEntity.typedValue(2, "UserName") }
        set { odataEntity.setTypedValue(2, "UserName", newValue) }
    }

    /// `State`, Edm.Int32, not null.
    public var state: Int32? {
        get { odataEntity.typedValue(3, "State") }
        set { odataEntity.setTypedValue(3, "State", newValue) }
    }

    /// `DeviceType`, Edm.String, at most 255.
    public var deviceType: String? {
        get { odataEntity.typedValue(4, "DeviceType") }
        set { odataEntity.setTypedValue(4, "DeviceType", newValue) }
    }

    /// `DeviceModel`, Edm.String, at most 255.
    public var deviceModel: String? {
        get { odataEntity.typedValue(5, "DeviceModel") }
        set { odataEntity.setTypedValue(5, "DeviceModel", newValue) }
    }

    /// `OSVersion`, Edm.String, at most 255.
    public var osVersion: String? {
        get { odataEntity.typedValue(6, "OSVersion") }
        set { odataEntity.setTypedValue(6, "OSVersion", newValue) }
    }

    /// `AppVersion`, Edm.String, at most 255.
    public var appVersion: String? {
        get { odataEntity.typedValue(7, "AppVersion") }
        set { odataEntity.setTypedValue(7, "AppVersion", newValue) }
    }

    /// `Locale`, Edm.String, at most 255.
    public var locale: String? {
        get { odataEntity.typedValue(8, "Locale") }
        set { odataEntity.setTypedValue(8, "Locale", newValue) }
    }

    /// `FormFactor`, Edm.String, at most 255.
    public var formFactor: String? {
        get { odataEntity.typedValue(9, "FormFactor") }
        set { odataEntity.setTypedValue(9, "FormFactor", newValue) }
    }

    /// `PushKind`, Edm.String, at most 16.
    public var pushKind: String? {
        get { odataEntity.typedValue(10, "PushKind") }
        set { odataEntity.setTypedValue(10, "PushKind", newValue) }
    }

    /// `PushTarget`, Edm.String, at most 4096.
    public var pushTarget: String? {
        get { odataEntity.typedValue(11, "PushTarget") }
        set { odataEntity.setTypedValue(11, "PushTarget", newValue) }
    }

    /// `PushEnabled`, Edm.Boolean.
    public var pushEnabled: Bool? {
        get { odataEntity.typedValue(12, "PushEnabled") }
        set { odataEntity.setTypedValue(12, "PushEnabled", newValue) }
    }

    /// `NotificationMode`, Edm.String, at most 16.
    public var notificationMode: String? {
        get { odataEntity.typedValue(13, "NotificationMode") }
        set { odataEntity.setTypedValue(13, "NotificationMode", newValue) }
    }

    /// `KeyThumbprint`, Edm.String.
    public var keyThumbprint: String? {
        get { odataEntity.typedValue(14, "KeyThumbprint") }
        set { odataEntity.setTypedValue(14, "KeyThumbprint", newValue) }
    }

    /// `CertificateSerial`, Edm.String.
    public var certificateSerial: String? {
        get { odataEntity.typedValue(15, "CertificateSerial") }
        set { odataEntity.setTypedValue(15, "CertificateSerial", newValue) }
    }

    /// `CertificateUntil`, Edm.DateTimeOffset.
    public var certificateUntil: ODataDateTimeOffset? {
        get { odataEntity.typedValue(16, "CertificateUntil") }
        set { odataEntity.setTypedValue(16, "CertificateUntil", newValue) }
    }

    /// `Bundle`, Edm.String.
    public var bundle: String? {
        get { odataEntity.typedValue(17, "Bundle") }
        set { odataEntity.setTypedValue(17, "Bundle", newValue) }
    }

    /// `TraceLevel`, Edm.Int32.
    public var traceLevel: Int32? {
        get { odataEntity.typedValue(18, "TraceLevel") }
        set { odataEntity.setTypedValue(18, "TraceLevel", newValue) }
    }

    /// `CreatedAt`, Edm.DateTimeOffset.
    public var createdAt: ODataDateTimeOffset? {
        get { odataEntity.typedValue(19, "CreatedAt") }
        set { odataEntity.setTypedValue(19, "CreatedAt", newValue) }
    }

    /// `Settings`, if it was expanded; contained.
    public var settings: [MobileSetting]? {
        get { odataEntity.typedRelatedCollection("Settings") }
        set { odataEntity.setTypedRelatedCollection("Settings", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var id: PropertyPath<String> { PropertyPath<String>(self, "ID") }
        public var securityConfiguration: PropertyPath<String> { PropertyPath<String>(self, "SecurityConfiguration") }
        public var userName: PropertyPath<String> { PropertyPath<String>(self, "UserName") }
        public var state: PropertyPath<Int32> { PropertyPath<Int32>(self, "State") }
        public var deviceType: PropertyPath<String> { PropertyPath<String>(self, "DeviceType") }
        public var deviceModel: PropertyPath<String> { PropertyPath<String>(self, "DeviceModel") }
        public var osVersion: PropertyPath<String> { PropertyPath<String>(self, "OSVersion") }
        public var appVersion: PropertyPath<String> { PropertyPath<String>(self, "AppVersion") }
        public var locale: PropertyPath<String> { PropertyPath<String>(self, "Locale") }
        public var formFactor: PropertyPath<String> { PropertyPath<String>(self, "FormFactor") }
        public var pushKind: PropertyPath<String> { PropertyPath<String>(self, "PushKind") }
        public var pushTarget: PropertyPath<String> { PropertyPath<String>(self, "PushTarget") }
        public var pushEnabled: PropertyPath<Bool> { PropertyPath<Bool>(self, "PushEnabled") }
        public var notificationMode: PropertyPath<String> { PropertyPath<String>(self, "NotificationMode") }
        public var keyThumbprint: PropertyPath<String> { PropertyPath<String>(self, "KeyThumbprint") }
        public var certificateSerial: PropertyPath<String> { PropertyPath<String>(self, "CertificateSerial") }
        public var certificateUntil: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "CertificateUntil") }
        public var bundle: PropertyPath<String> { PropertyPath<String>(self, "Bundle") }
        public var traceLevel: PropertyPath<Int32> { PropertyPath<Int32>(self, "TraceLevel") }
        public var createdAt: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "CreatedAt") }
        public var settings: NavigationCollectionPath<MobileSetting> { NavigationCollectionPath<MobileSetting>(self, "Settings") }
    }
}

extension TypedCollection where Element == MobileRegistration {
    /// The entity with a key.
    public func key(_ id: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "ID", value: id.odataValue)]))
    }
}

extension EntityRequest where Element == MobileRegistration {
    /// `Outpost.Mobile.Confirm`.
    public func confirm(kind: String, version: Int64, confirmation: String? = nil) async throws {
        var odataCall = OperationCall(on: self, "Outpost.Mobile.Confirm", .action)
        odataCall.set("kind", kind)
        odataCall.set("version", version)
        odataCall.setOptional("confirmation", confirmation)
        try await odataCall.run()
    }

    /// `Outpost.Mobile.Enroll`.
    public func enroll(request: [UInt8]) async throws -> (ByteStream, contentType: String)? {
        var odataCall = OperationCall(on: self, "Outpost.Mobile.Enroll", .action)
        odataCall.set("request", request)
        return try await odataCall.stream()
    }
}

/// `Outpost.Mobile.Setting`.
public struct MobileSetting: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Setting")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Name`, Edm.String, not null, at most 128.
    public var name: String? {
        get { odataEntity.typedValue(0, "Name") }
        set { odataEntity.setTypedValue(0, "Name", newValue) }
    }

    /// `Value`, Edm.String.
    public var value: String? {
        get { odataEntity.typedValue(1, "Value") }
        set { odataEntity.setTypedValue(1, "Value", newValue) }
    }

    /// `IsReadOnly`, Edm.Boolean.
    public var isReadOnly: Bool? {
        get { odataEntity.typedValue(2, "IsReadOnly") }
        set { odataEntity.setTypedValue(2, "IsReadOnly", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        public var value: PropertyPath<String> { PropertyPath<String>(self, "Value") }
        public var isReadOnly: PropertyPath<Bool> { PropertyPath<Bool>(self, "IsReadOnly") }
    }
}

extension TypedCollection where Element == MobileSetting {
    /// The entity with a key.
    public func key(_ name: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Name", value: name.odataValue)]))
    }
}

/// `Outpost.Mobile.SharedDocument`.
public struct MobileSharedDocument: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "SharedDocument")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Scope`, Edm.String, not null, at most 16.
    public var scope: String? {
        get { odataEntity.typedValue(0, "Scope") }
        set { odataEntity.setTypedValue(0, "Scope", newValue) }
    }

    /// `Key`, Edm.String, not null, at most 128.
    public var key: String? {
        get { odataEntity.typedValue(1, "Key") }
        set { odataEntity.setTypedValue(1, "Key", newValue) }
    }

    /// `Size`, Edm.Int64, not null.
    public var size: Int64? {
        get { odataEntity.typedValue(2, "Size") }
        set { odataEntity.setTypedValue(2, "Size", newValue) }
    }

    /// `UpdatedAt`, Edm.DateTimeOffset, not null.
    public var updatedAt: ODataDateTimeOffset? {
        get { odataEntity.typedValue(3, "UpdatedAt") }
        set { odataEntity.setTypedValue(3, "UpdatedAt", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var scope: PropertyPath<String> { PropertyPath<String>(self, "Scope") }
        public var key: PropertyPath<String> { PropertyPath<String>(self, "Key") }
        public var size: PropertyPath<Int64> { PropertyPath<Int64>(self, "Size") }
        public var updatedAt: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "UpdatedAt") }
    }
}

extension TypedCollection where Element == MobileSharedDocument {
    /// The entity with a key.
    public func key(scope: String, key: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Scope", value: scope.odataValue), EntityKey.Part(name: "Key", value: key.odataValue)]))
    }
}

/// `Outpost.Mobile.Subscription`.
public struct MobileSubscription: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Subscription")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Destination`, Edm.String, not null, at most 128.
    public var destination: String? {
        get { odataEntity.typedValue(0, "Destination") }
        set { odataEntity.setTypedValue(0, "Destination", newValue) }
    }

    /// `Query`, Edm.String, not null, at most 128.
    public var query: String? {
        get { odataEntity.typedValue(1, "Query") }
        set { odataEntity.setTypedValue(1, "Query", newValue) }
    }

    /// `IsSuspended`, Edm.Boolean, not null.
    public var isSuspended: Bool? {
        get { odataEntity.typedValue(2, "IsSuspended") }
        set { odataEntity.setTypedValue(2, "IsSuspended", newValue) }
    }

    /// `Parameters`, Edm.String.
    public var parameters: String? {
        get { odataEntity.typedValue(3, "Parameters") }
        set { odataEntity.setTypedValue(3, "Parameters", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var destination: PropertyPath<String> { PropertyPath<String>(self, "Destination") }
        public var query: PropertyPath<String> { PropertyPath<String>(self, "Query") }
        public var isSuspended: PropertyPath<Bool> { PropertyPath<Bool>(self, "IsSuspended") }
        public var parameters: PropertyPath<String> { PropertyPath<String>(self, "Parameters") }
    }
}

extension TypedCollection where Element == MobileSubscription {
    /// The entity with a key.
    public func key(destination: String, query: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Destination", value: destination.odataValue), EntityKey.Part(name: "Query", value: query.odataValue)]))
    }
}

/// `Outpost.Mobile.Upload`.
public struct MobileUpload: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Upload")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `ID`, Edm.String, not null, at most 128.
    public var id: String? {
        get { odataEntity.typedValue(0, "ID") }
        set { odataEntity.setTypedValue(0, "ID", newValue) }
    }

    /// `Kind`, Edm.String, not null.
    public var kind: String? {
        get { odataEntity.typedValue(1, "Kind") }
        set { odataEntity.setTypedValue(1, "Kind", newValue) }
    }

    /// `State`, Edm.String, not null.
    public var state: String? {
        get { odataEntity.typedValue(2, "State") }
        set { odataEntity.setTypedValue(2, "State", newValue) }
    }

    /// `ContentType`, Edm.String, not null.
    public var contentType: String? {
        get { odataEntity.typedValue(3, "ContentType") }
        set { odataEntity.setTypedValue(3, "ContentType", newValue) }
    }

    /// `Note`, Edm.String.
    public var note: String? {
        get { odataEntity.typedValue(4, "Note") }
        set { odataEntity.setTypedValue(4, "Note", newValue) }
    }

    /// `ConsentedAt`, Edm.DateTimeOffset.
    public var consentedAt: ODataDateTimeOffset? {
        get { odataEntity.typedValue(5, "ConsentedAt") }
        set { odataEntity.setTypedValue(5, "ConsentedAt", newValue) }
    }

    /// `Size`, Edm.Int64.
    public var size: Int64? {
        get { odataEntity.typedValue(6, "Size") }
        set { odataEntity.setTypedValue(6, "Size", newValue) }
    }

    /// `ReceivedSize`, Edm.Int64, not null.
    public var receivedSize: Int64? {
        get { odataEntity.typedValue(7, "ReceivedSize") }
        set { odataEntity.setTypedValue(7, "ReceivedSize", newValue) }
    }

    /// `SHA256`, Edm.String.
    public var sha256: String? {
        get { odataEntity.typedValue(8, "SHA256") }
        set { odataEntity.setTypedValue(8, "SHA256", newValue) }
    }

    /// `CreatedAt`, Edm.DateTimeOffset, not null.
    public var createdAt: ODataDateTimeOffset? {
        get { odataEntity.typedValue(9, "CreatedAt") }
        set { odataEntity.setTypedValue(9, "CreatedAt", newValue) }
    }

    /// `ExpiresAt`, Edm.DateTimeOffset, not null.
    public var expiresAt: ODataDateTimeOffset? {
        get { odataEntity.typedValue(10, "ExpiresAt") }
        set { odataEntity.setTypedValue(10, "ExpiresAt", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var id: PropertyPath<String> { PropertyPath<String>(self, "ID") }
        public var kind: PropertyPath<String> { PropertyPath<String>(self, "Kind") }
        public var state: PropertyPath<String> { PropertyPath<String>(self, "State") }
        public var contentType: PropertyPath<String> { PropertyPath<String>(self, "ContentType") }
        public var note: PropertyPath<String> { PropertyPath<String>(self, "Note") }
        public var consentedAt: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "ConsentedAt") }
        public var size: PropertyPath<Int64> { PropertyPath<Int64>(self, "Size") }
        public var receivedSize: PropertyPath<Int64> { PropertyPath<Int64>(self, "ReceivedSize") }
        public var sha256: PropertyPath<String> { PropertyPath<String>(self, "SHA256") }
        public var createdAt: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "CreatedAt") }
        public var expiresAt: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "ExpiresAt") }
    }
}

extension TypedCollection where Element == MobileUpload {
    /// The entity with a key.
    public func key(_ id: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "ID", value: id.odataValue)]))
    }
}
