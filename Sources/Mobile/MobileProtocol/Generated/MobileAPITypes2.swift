// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Outpost.Mobile.Bundle`.
public struct MobileBundle: TypedEntity, MediaEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Bundle")
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

    /// `Version`, Edm.String, not null, at most 128.
    public var version: String? {
        get { odataEntity.typedValue(1, "Version") }
        set { odataEntity.setTypedValue(1, "Version", newValue) }
    }

    /// `Extension`, Edm.String, not null.
    public var `extension`: String? {
        get { odataEntity.typedValue(2, "Extension") }
        set { odataEntity.setTypedValue(2, "Extension", newValue) }
    }

    /// `SHA256`, Edm.String, not null.
    public var sha256: String? {
        get { odataEntity.typedValue(3, "SHA256") }
        set { odataEntity.setTypedValue(3, "SHA256", newValue) }
    }

    /// `Size`, Edm.Int64, not null.
    public var size: Int64? {
        get { odataEntity.typedValue(4, "Size") }
        set { odataEntity.setTypedValue(4, "Size", newValue) }
    }

    /// `Stage`, Edm.String, not null.
    public var stage: String? {
        get { odataEntity.typedValue(5, "Stage") }
        set { odataEntity.setTypedValue(5, "Stage", newValue) }
    }

    /// `IsDefault`, Edm.Boolean, not null.
    public var isDefault: Bool? {
        get { odataEntity.typedValue(6, "IsDefault") }
        set { odataEntity.setTypedValue(6, "IsDefault", newValue) }
    }

    /// `Manifest`, Edm.String.
    public var manifest: String? {
        get { odataEntity.typedValue(7, "Manifest") }
        set { odataEntity.setTypedValue(7, "Manifest", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        public var version: PropertyPath<String> { PropertyPath<String>(self, "Version") }
        public var `extension`: PropertyPath<String> { PropertyPath<String>(self, "Extension") }
        public var sha256: PropertyPath<String> { PropertyPath<String>(self, "SHA256") }
        public var size: PropertyPath<Int64> { PropertyPath<Int64>(self, "Size") }
        public var stage: PropertyPath<String> { PropertyPath<String>(self, "Stage") }
        public var isDefault: PropertyPath<Bool> { PropertyPath<Bool>(self, "IsDefault") }
        public var manifest: PropertyPath<String> { PropertyPath<String>(self, "Manifest") }
    }
}

extension TypedCollection where Element == MobileBundle {
    /// The entity with a key.
    public func key(name: String, version: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Name", value: name.odataValue), EntityKey.Part(name: "Version", value: version.odataValue)]))
    }
}

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

/// `Outpost.Mobile.LogRecord`.
public struct MobileLogRecord: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "LogRecord")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `MessageId`, Edm.Int64, not null.
    public var messageId: Int64? {
        get { odataEntity.typedValue(0, "MessageId") }
        set { odataEntity.setTypedValue(0, "MessageId", newValue) }
    }

    /// `Operation`, Edm.String.
    public var operation: String? {
        get { odataEntity.typedValue(1, "Operation") }
        set { odataEntity.setTypedValue(1, "Operation", newValue) }
    }

    /// `Timestamp`, Edm.DateTimeOffset.
    public var timestamp: ODataDateTimeOffset? {
        get { odataEntity.typedValue(2, "Timestamp") }
        set { odataEntity.setTypedValue(2, "Timestamp", newValue) }
    }

    /// `Component`, Edm.String.
    public var component: String? {
        get { odataEntity.typedValue(3, "Component") }
        set { odataEntity.setTypedValue(3, "Component", newValue) }
    }

    /// `EntityKey`, Edm.String.
    public var entityKey: String? {
        get { odataEntity.typedValue(4, "EntityKey") }
        set { odataEntity.setTypedValue(4, "EntityKey", newValue) }
    }

    /// `Message`, Edm.String.
    public var message: String? {
        get { odataEntity.typedValue(5, "Message") }
        set { odataEntity.setTypedValue(5, "Message", newValue) }
    }

    /// `Level`, Edm.String.
    public var level: String? {
        get { odataEntity.typedValue(6, "Level") }
        set { odataEntity.setTypedValue(6, "Level", newValue) }
    }

    /// `Code`, Edm.Int32.
    public var code: Int32? {
        get { odataEntity.typedValue(7, "Code") }
        set { odataEntity.setTypedValue(7, "Code", newValue) }
    }

    /// `EisCode`, Edm.String.
    public var eisCode: String? {
        get { odataEntity.typedValue(8, "EisCode") }
        set { odataEntity.setTypedValue(8, "EisCode", newValue) }
    }

    /// `RequestId`, Edm.String.
    public var requestId: String? {
        get { odataEntity.typedValue(9, "RequestId") }
        set { odataEntity.setTypedValue(9, "RequestId", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var messageId: PropertyPath<Int64> { PropertyPath<Int64>(self, "MessageId") }
        public var operation: PropertyPath<String> { PropertyPath<String>(self, "Operation") }
        public var timestamp: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "Timestamp") }
        public var component: PropertyPath<String> { PropertyPath<String>(self, "Component") }
        public var entityKey: PropertyPath<String> { PropertyPath<String>(self, "EntityKey") }
        public var message: PropertyPath<String> { PropertyPath<String>(self, "Message") }
        public var level: PropertyPath<String> { PropertyPath<String>(self, "Level") }
        public var code: PropertyPath<Int32> { PropertyPath<Int32>(self, "Code") }
        public var eisCode: PropertyPath<String> { PropertyPath<String>(self, "EisCode") }
        public var requestId: PropertyPath<String> { PropertyPath<String>(self, "RequestId") }
    }
}

extension TypedCollection where Element == MobileLogRecord {
    /// The entity with a key.
    public func key(_ messageId: Int64) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "MessageId", value: messageId.odataValue)]))
    }
}

/// `Outpost.Mobile.Message`.
public struct MobileMessage: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Message")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Number`, Edm.Int64, not null.
    public var number: Int64? {
        get { odataEntity.typedValue(0, "Number") }
        set { odataEntity.setTypedValue(0, "Number", newValue) }
    }

    /// `Kind`, Edm.String, not null.
    public var kind: String? {
        get { odataEntity.typedValue(1, "Kind") }
        set { odataEntity.setTypedValue(1, "Kind", newValue) }
    }

    /// `Body`, Edm.String, not null.
    public var body: String? {
        get { odataEntity.typedValue(2, "Body") }
        set { odataEntity.setTypedValue(2, "Body", newValue) }
    }

    /// `CreatedAt`, Edm.DateTimeOffset, not null.
    public var createdAt: ODataDateTimeOffset? {
        get { odataEntity.typedValue(3, "CreatedAt") }
        set { odataEntity.setTypedValue(3, "CreatedAt", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var number: PropertyPath<Int64> { PropertyPath<Int64>(self, "Number") }
        public var kind: PropertyPath<String> { PropertyPath<String>(self, "Kind") }
        public var body: PropertyPath<String> { PropertyPath<String>(self, "Body") }
        public var createdAt: PropertyPath<ODataDateTimeOffset> { PropertyPath<ODataDateTimeOffset>(self, "CreatedAt") }
    }
}

extension TypedCollection where Element == MobileMessage {
    /// The entity with a key.
    public func key(_ number: Int64) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Number", value: number.odataValue)]))
    }
}

/// `Outpost.Mobile.PersonalizationValue`.
public struct MobilePersonalizationValue: TypedEntity {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "PersonalizationValue")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Key`, Edm.String, not null, at most 128.
    public var key: String? {
        get { odataEntity.typedValue(0, "Key") }
        set { odataEntity.setTypedValue(0, "Key", newValue) }
    }

    /// `Value`, Edm.String.
    public var value: String? {
        get { odataEntity.typedValue(1, "Value") }
        set { odataEntity.setTypedValue(1, "Value", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var key: PropertyPath<String> { PropertyPath<String>(self, "Key") }
        public var value: PropertyPath<String> { PropertyPath<String>(self, "Value") }
    }
}

extension TypedCollection where Element == MobilePersonalizationValue {
    /// The entity with a key.
    public func key(_ key: String) -> EntityRequest<Element> {
        self.key(EntityKey([EntityKey.Part(name: "Key", value: key.odataValue)]))
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
