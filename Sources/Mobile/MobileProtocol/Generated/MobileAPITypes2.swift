// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Outpost.Mobile.Destination`.
public struct MobileDestination: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Destination")
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

    /// `Dialect`, Edm.String, not null.
    public var dialect: String? {
        get { odataEntity.typedValue(1, "Dialect") }
        set { odataEntity.setTypedValue(1, "Dialect", newValue) }
    }

    /// `URL`, Edm.String, not null.
    public var url: String? {
        get { odataEntity.typedValue(2, "URL") }
        set { odataEntity.setTypedValue(2, "URL", newValue) }
    }

    /// `Queries`, Collection(Outpost.Mobile.DefiningQuery), not null.
    public var queries: [MobileDefiningQuery]? {
        get { odataEntity.typedCollection(3, "Queries") }
        set { odataEntity.setTypedCollection(3, "Queries", newValue) }
    }

    /// `StoreOptions`, Outpost.Mobile.StoreOptions, not null.
    public var storeOptions: MobileStoreOptions? {
        get { odataEntity.typedValue(4, "StoreOptions") }
        set { odataEntity.setTypedValue(4, "StoreOptions", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        public var dialect: PropertyPath<String> { PropertyPath<String>(self, "Dialect") }
        public var url: PropertyPath<String> { PropertyPath<String>(self, "URL") }
        public var queries: ComplexCollectionPath<MobileDefiningQuery> { ComplexCollectionPath<MobileDefiningQuery>(self, "Queries") }
        public var storeOptions: ComplexPath<MobileStoreOptions> { ComplexPath<MobileStoreOptions>(self, "StoreOptions") }
    }
}

extension TypedCollection where Element == MobileDestination {
    /// The entity with a key.
    public func key(_ name: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Name", value: name.odataValue)]))
    }
}

/// `Outpost.Mobile.Features`.
public struct MobileFeatures: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Features")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Version`, Edm.Int64, not null.
    public var version: Int64? {
        get { odataEntity.typedValue(0, "Version") }
        set { odataEntity.setTypedValue(0, "Version", newValue) }
    }

    /// `All`, Edm.Boolean, not null.
    public var all: Bool? {
        get { odataEntity.typedValue(1, "All") }
        set { odataEntity.setTypedValue(1, "All", newValue) }
    }

    /// `Switches`, Collection(Outpost.Mobile.FeatureSwitch), not null.
    public var switches: [MobileFeatureSwitch]? {
        get { odataEntity.typedCollection(2, "Switches") }
        set { odataEntity.setTypedCollection(2, "Switches", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var version: PropertyPath<Int64> { PropertyPath<Int64>(self, "Version") }
        public var all: PropertyPath<Bool> { PropertyPath<Bool>(self, "All") }
        public var switches: ComplexCollectionPath<MobileFeatureSwitch> { ComplexCollectionPath<MobileFeatureSwitch>(self, "Switches") }
    }
}

/// `Outpost.Mobile.Policies`.
public struct MobilePolicies: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Policies")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Version`, Edm.Int64, not null.
    public var version: Int64? {
        get { odataEntity.typedValue(0, "Version") }
        set { odataEntity.setTypedValue(0, "Version", newValue) }
    }

    /// `PasswordPolicy`, Outpost.Mobile.PasswordPolicy, not null.
    public var passwordPolicy: MobilePasswordPolicy? {
        get { odataEntity.typedValue(1, "PasswordPolicy") }
        set { odataEntity.setTypedValue(1, "PasswordPolicy", newValue) }
    }

    /// `Lock`, Outpost.Mobile.LockOrder, not null.
    public var lock: MobileLockOrder? {
        get { odataEntity.typedValue(2, "Lock") }
        set { odataEntity.setTypedValue(2, "Lock", newValue) }
    }

    /// `OfflineLimit`, Outpost.Mobile.OfflineLimit, not null.
    public var offlineLimit: MobileOfflineLimit? {
        get { odataEntity.typedValue(3, "OfflineLimit") }
        set { odataEntity.setTypedValue(3, "OfflineLimit", newValue) }
    }

    /// `Security`, Outpost.Mobile.SecurityPolicy, not null.
    public var security: MobileSecurityPolicy? {
        get { odataEntity.typedValue(4, "Security") }
        set { odataEntity.setTypedValue(4, "Security", newValue) }
    }

    /// `Log`, Outpost.Mobile.LogPolicy, not null.
    public var log: MobileLogPolicy? {
        get { odataEntity.typedValue(5, "Log") }
        set { odataEntity.setTypedValue(5, "Log", newValue) }
    }

    /// `Usage`, Outpost.Mobile.UsagePolicy, not null.
    public var usage: MobileUsagePolicy? {
        get { odataEntity.typedValue(6, "Usage") }
        set { odataEntity.setTypedValue(6, "Usage", newValue) }
    }

    /// `Crash`, Edm.Boolean, not null.
    public var crash: Bool? {
        get { odataEntity.typedValue(7, "Crash") }
        set { odataEntity.setTypedValue(7, "Crash", newValue) }
    }

    /// `Throttling`, Outpost.Mobile.Throttling, not null.
    public var throttling: MobileThrottling? {
        get { odataEntity.typedValue(8, "Throttling") }
        set { odataEntity.setTypedValue(8, "Throttling", newValue) }
    }

    /// `StoreUpload`, Outpost.Mobile.StoreUploadPolicy, not null.
    public var storeUpload: MobileStoreUploadPolicy? {
        get { odataEntity.typedValue(9, "StoreUpload") }
        set { odataEntity.setTypedValue(9, "StoreUpload", newValue) }
    }

    /// `UserSwitch`, Edm.Boolean, not null.
    public var userSwitch: Bool? {
        get { odataEntity.typedValue(10, "UserSwitch") }
        set { odataEntity.setTypedValue(10, "UserSwitch", newValue) }
    }

    /// `DeviceProof`, Edm.String, not null.
    public var deviceProof: String? {
        get { odataEntity.typedValue(11, "DeviceProof") }
        set { odataEntity.setTypedValue(11, "DeviceProof", newValue) }
    }

    /// `Bundle`, Edm.String.
    public var bundle: String? {
        get { odataEntity.typedValue(12, "Bundle") }
        set { odataEntity.setTypedValue(12, "Bundle", newValue) }
    }

    /// `TraceLevel`, Edm.Int32, not null.
    public var traceLevel: Int32? {
        get { odataEntity.typedValue(13, "TraceLevel") }
        set { odataEntity.setTypedValue(13, "TraceLevel", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var version: PropertyPath<Int64> { PropertyPath<Int64>(self, "Version") }
        public var passwordPolicy: ComplexPath<MobilePasswordPolicy> { ComplexPath<MobilePasswordPolicy>(self, "PasswordPolicy") }
        public var lock: ComplexPath<MobileLockOrder> { ComplexPath<MobileLockOrder>(self, "Lock") }
        public var offlineLimit: ComplexPath<MobileOfflineLimit> { ComplexPath<MobileOfflineLimit>(self, "OfflineLimit") }
        public var security: ComplexPath<MobileSecurityPolicy> { ComplexPath<MobileSecurityPolicy>(self, "Security") }
        public var log: ComplexPath<MobileLogPolicy> { ComplexPath<MobileLogPolicy>(self, "Log") }
        public var usage: ComplexPath<MobileUsagePolicy> { ComplexPath<MobileUsagePolicy>(self, "Usage") }
        public var crash: PropertyPath<Bool> { PropertyPath<Bool>(self, "Crash") }
        public var throttling: ComplexPath<MobileThrottling> { ComplexPath<MobileThrottling>(self, "Throttling") }
        public var storeUpload: ComplexPath<MobileStoreUploadPolicy> { ComplexPath<MobileStoreUploadPolicy>(self, "StoreUpload") }
        public var userSwitch: PropertyPath<Bool> { PropertyPath<Bool>(self, "UserSwitch") }
        public var deviceProof: PropertyPath<String> { PropertyPath<String>(self, "DeviceProof") }
        public var bundle: PropertyPath<String> { PropertyPath<String>(self, "Bundle") }
        public var traceLevel: PropertyPath<Int32> { PropertyPath<Int32>(self, "TraceLevel") }
    }
}

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
