// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Outpost.Mobile.DefiningQuery`.
public struct MobileDefiningQuery: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "DefiningQuery")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Name`, Edm.String, not null.
    public var name: String? {
        get { odataEntity.typedValue(0, "Name") }
        set { odataEntity.setTypedValue(0, "Name", newValue) }
    }

    /// `Query`, Edm.String, not null.
    public var query: String? {
        get { odataEntity.typedValue(1, "Query") }
        set { odataEntity.setTypedValue(1, "Query", newValue) }
    }

    /// `Group`, Edm.String, not null.
    public var group: String? {
        get { odataEntity.typedValue(2, "Group") }
        set { odataEntity.setTypedValue(2, "Group", newValue) }
    }

    /// `Visibility`, Edm.String, not null.
    public var visibility: String? {
        get { odataEntity.typedValue(3, "Visibility") }
        set { odataEntity.setTypedValue(3, "Visibility", newValue) }
    }

    /// `RefreshInterval`, Edm.Int32, not null.
    public var refreshInterval: Int32? {
        get { odataEntity.typedValue(4, "RefreshInterval") }
        set { odataEntity.setTypedValue(4, "RefreshInterval", newValue) }
    }

    /// `Streams`, Edm.Boolean, not null.
    public var streams: Bool? {
        get { odataEntity.typedValue(5, "Streams") }
        set { odataEntity.setTypedValue(5, "Streams", newValue) }
    }

    /// `Image`, Edm.String.
    public var image: String? {
        get { odataEntity.typedValue(6, "Image") }
        set { odataEntity.setTypedValue(6, "Image", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        public var query: PropertyPath<String> { PropertyPath<String>(self, "Query") }
        public var group: PropertyPath<String> { PropertyPath<String>(self, "Group") }
        public var visibility: PropertyPath<String> { PropertyPath<String>(self, "Visibility") }
        public var refreshInterval: PropertyPath<Int32> { PropertyPath<Int32>(self, "RefreshInterval") }
        public var streams: PropertyPath<Bool> { PropertyPath<Bool>(self, "Streams") }
        public var image: PropertyPath<String> { PropertyPath<String>(self, "Image") }
    }
}

/// `Outpost.Mobile.FeatureParameter`.
public struct MobileFeatureParameter: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "FeatureParameter")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Name`, Edm.String, not null.
    public var name: String? {
        get { odataEntity.typedValue(0, "Name") }
        set { odataEntity.setTypedValue(0, "Name", newValue) }
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

        public var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        public var value: PropertyPath<String> { PropertyPath<String>(self, "Value") }
    }
}

/// `Outpost.Mobile.FeatureSwitch`.
public struct MobileFeatureSwitch: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "FeatureSwitch")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Name`, Edm.String, not null.
    public var name: String? {
        get { odataEntity.typedValue(0, "Name") }
        set { odataEntity.setTypedValue(0, "Name", newValue) }
    }

    /// `IsEnabled`, Edm.Boolean, not null.
    public var isEnabled: Bool? {
        get { odataEntity.typedValue(1, "IsEnabled") }
        set { odataEntity.setTypedValue(1, "IsEnabled", newValue) }
    }

    /// `Parameters`, Collection(Outpost.Mobile.FeatureParameter), not null.
    public var parameters: [MobileFeatureParameter]? {
        get { odataEntity.typedCollection(2, "Parameters") }
        set { odataEntity.setTypedCollection(2, "Parameters", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var name: PropertyPath<String> { PropertyPath<String>(self, "Name") }
        public var isEnabled: PropertyPath<Bool> { PropertyPath<Bool>(self, "IsEnabled") }
        public var parameters: ComplexCollectionPath<MobileFeatureParameter> { ComplexCollectionPath<MobileFeatureParameter>(self, "Parameters") }
    }
}

/// `Outpost.Mobile.LockOrder`.
public struct MobileLockOrder: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "LockOrder")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `State`, Edm.String, not null.
    public var state: String? {
        get { odataEntity.typedValue(0, "State") }
        set { odataEntity.setTypedValue(0, "State", newValue) }
    }

    /// `Version`, Edm.Int64, not null.
    public var version: Int64? {
        get { odataEntity.typedValue(1, "Version") }
        set { odataEntity.setTypedValue(1, "Version", newValue) }
    }

    /// `Confirmation`, Edm.String.
    public var confirmation: String? {
        get { odataEntity.typedValue(2, "Confirmation") }
        set { odataEntity.setTypedValue(2, "Confirmation", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var state: PropertyPath<String> { PropertyPath<String>(self, "State") }
        public var version: PropertyPath<Int64> { PropertyPath<Int64>(self, "Version") }
        public var confirmation: PropertyPath<String> { PropertyPath<String>(self, "Confirmation") }
    }
}

/// `Outpost.Mobile.LogPolicy`.
public struct MobileLogPolicy: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "LogPolicy")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Upload`, Edm.Boolean, not null.
    public var upload: Bool? {
        get { odataEntity.typedValue(0, "Upload") }
        set { odataEntity.setTypedValue(0, "Upload", newValue) }
    }

    /// `Level`, Edm.String, not null.
    public var level: String? {
        get { odataEntity.typedValue(1, "Level") }
        set { odataEntity.setTypedValue(1, "Level", newValue) }
    }

    /// `ExpiryDays`, Edm.Int32, not null.
    public var expiryDays: Int32? {
        get { odataEntity.typedValue(2, "ExpiryDays") }
        set { odataEntity.setTypedValue(2, "ExpiryDays", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var upload: PropertyPath<Bool> { PropertyPath<Bool>(self, "Upload") }
        public var level: PropertyPath<String> { PropertyPath<String>(self, "Level") }
        public var expiryDays: PropertyPath<Int32> { PropertyPath<Int32>(self, "ExpiryDays") }
    }
}

/// `Outpost.Mobile.OfflineLimit`.
public struct MobileOfflineLimit: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "OfflineLimit")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `LockDays`, Edm.Int32, not null.
    public var lockDays: Int32? {
        get { odataEntity.typedValue(0, "LockDays") }
        set { odataEntity.setTypedValue(0, "LockDays", newValue) }
    }

    /// `WipeDays`, Edm.Int32, not null.
    public var wipeDays: Int32? {
        get { odataEntity.typedValue(1, "WipeDays") }
        set { odataEntity.setTypedValue(1, "WipeDays", newValue) }
    }

    /// `InactiveDays`, Edm.Int32, not null.
    public var inactiveDays: Int32? {
        get { odataEntity.typedValue(2, "InactiveDays") }
        set { odataEntity.setTypedValue(2, "InactiveDays", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var lockDays: PropertyPath<Int32> { PropertyPath<Int32>(self, "LockDays") }
        public var wipeDays: PropertyPath<Int32> { PropertyPath<Int32>(self, "WipeDays") }
        public var inactiveDays: PropertyPath<Int32> { PropertyPath<Int32>(self, "InactiveDays") }
    }
}

/// `Outpost.Mobile.PasswordPolicy`.
public struct MobilePasswordPolicy: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "PasswordPolicy")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Enabled`, Edm.Boolean, not null.
    public var enabled: Bool? {
        get { odataEntity.typedValue(0, "Enabled") }
        set { odataEntity.setTypedValue(0, "Enabled", newValue) }
    }

    /// `DefaultPasswordAllowed`, Edm.Boolean, not null.
    public var defaultPasswordAllowed: Bool? {
        get { odataEntity.typedValue(1, "DefaultPasswordAllowed") }
        set { odataEntity.setTypedValue(1, "DefaultPasswordAllowed", newValue) }
    }

    /// `MinLength`, Edm.Int32, not null.
    public var minLength: Int32? {
        get { odataEntity.typedValue(2, "MinLength") }
        set { odataEntity.setTypedValue(2, "MinLength", newValue) }
    }

    /// `HasDigits`, Edm.Boolean, not null.
    public var hasDigits: Bool? {
        get { odataEntity.typedValue(3, "HasDigits") }
        set { odataEntity.setTypedValue(3, "HasDigits", newValue) }
    }

    /// `HasUpper`, Edm.Boolean, not null.
    public var hasUpper: Bool? {
        get { odataEntity.typedValue(4, "HasUpper") }
        set { odataEntity.setTypedValue(4, "HasUpper", newValue) }
    }

    /// `HasLower`, Edm.Boolean, not null.
    public var hasLower: Bool? {
        get { odataEntity.typedValue(5, "HasLower") }
        set { odataEntity.setTypedValue(5, "HasLower", newValue) }
    }

    /// `HasSpecial`, Edm.Boolean, not null.
    public var hasSpecial: Bool? {
        get { odataEntity.typedValue(6, "HasSpecial") }
        set { odataEntity.setTypedValue(6, "HasSpecial", newValue) }
    }

    /// `ExpirationDays`, Edm.Int32, not null.
    public var expirationDays: Int32? {
        get { odataEntity.typedValue(7, "ExpirationDays") }
        set { odataEntity.setTypedValue(7, "ExpirationDays", newValue) }
    }

    /// `MinUniqueChars`, Edm.Int32, not null.
    public var minUniqueChars: Int32? {
        get { odataEntity.typedValue(8, "MinUniqueChars") }
        set { odataEntity.setTypedValue(8, "MinUniqueChars", newValue) }
    }

    /// `LockTimeout`, Edm.Int32, not null.
    public var lockTimeout: Int32? {
        get { odataEntity.typedValue(9, "LockTimeout") }
        set { odataEntity.setTypedValue(9, "LockTimeout", newValue) }
    }

    /// `RetryLimit`, Edm.Int32, not null.
    public var retryLimit: Int32? {
        get { odataEntity.typedValue(10, "RetryLimit") }
        set { odataEntity.setTypedValue(10, "RetryLimit", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var enabled: PropertyPath<Bool> { PropertyPath<Bool>(self, "Enabled") }
        public var defaultPasswordAllowed: PropertyPath<Bool> { PropertyPath<Bool>(self, "DefaultPasswordAllowed") }
        public var minLength: PropertyPath<Int32> { PropertyPath<Int32>(self, "MinLength") }
        public var hasDigits: PropertyPath<Bool> { PropertyPath<Bool>(self, "HasDigits") }
        public var hasUpper: PropertyPath<Bool> { PropertyPath<Bool>(self, "HasUpper") }
        public var hasLower: PropertyPath<Bool> { PropertyPath<Bool>(self, "HasLower") }
        public var hasSpecial: PropertyPath<Bool> { PropertyPath<Bool>(self, "HasSpecial") }
        public var expirationDays: PropertyPath<Int32> { PropertyPath<Int32>(self, "ExpirationDays") }
        public var minUniqueChars: PropertyPath<Int32> { PropertyPath<Int32>(self, "MinUniqueChars") }
        public var lockTimeout: PropertyPath<Int32> { PropertyPath<Int32>(self, "LockTimeout") }
        public var retryLimit: PropertyPath<Int32> { PropertyPath<Int32>(self, "RetryLimit") }
    }
}

/// `Outpost.Mobile.SecurityPolicy`.
public struct MobileSecurityPolicy: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "SecurityPolicy")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `AllowPrint`, Edm.Boolean, not null.
    public var allowPrint: Bool? {
        get { odataEntity.typedValue(0, "AllowPrint") }
        set { odataEntity.setTypedValue(0, "AllowPrint", newValue) }
    }

    /// `AllowOpenURL`, Edm.Boolean, not null.
    public var allowOpenURL: Bool? {
        get { odataEntity.typedValue(1, "AllowOpenURL") }
        set { odataEntity.setTypedValue(1, "AllowOpenURL", newValue) }
    }

    /// `AllowCopy`, Edm.Boolean, not null.
    public var allowCopy: Bool? {
        get { odataEntity.typedValue(2, "AllowCopy") }
        set { odataEntity.setTypedValue(2, "AllowCopy", newValue) }
    }

    /// `Attestation`, Edm.Boolean, not null.
    public var attestation: Bool? {
        get { odataEntity.typedValue(3, "Attestation") }
        set { odataEntity.setTypedValue(3, "Attestation", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var allowPrint: PropertyPath<Bool> { PropertyPath<Bool>(self, "AllowPrint") }
        public var allowOpenURL: PropertyPath<Bool> { PropertyPath<Bool>(self, "AllowOpenURL") }
        public var allowCopy: PropertyPath<Bool> { PropertyPath<Bool>(self, "AllowCopy") }
        public var attestation: PropertyPath<Bool> { PropertyPath<Bool>(self, "Attestation") }
    }
}

/// `Outpost.Mobile.StoreOptions`, open.
public struct MobileStoreOptions: TypedComplex, OpenStructure {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "StoreOptions")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }
    }
}

/// `Outpost.Mobile.StoreUploadPolicy`.
public struct MobileStoreUploadPolicy: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "StoreUploadPolicy")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Enabled`, Edm.Boolean, not null.
    public var enabled: Bool? {
        get { odataEntity.typedValue(0, "Enabled") }
        set { odataEntity.setTypedValue(0, "Enabled", newValue) }
    }

    /// `KeepDays`, Edm.Int32, not null.
    public var keepDays: Int32? {
        get { odataEntity.typedValue(1, "KeepDays") }
        set { odataEntity.setTypedValue(1, "KeepDays", newValue) }
    }

    /// `MaxSize`, Edm.Int64, not null.
    public var maxSize: Int64? {
        get { odataEntity.typedValue(2, "MaxSize") }
        set { odataEntity.setTypedValue(2, "MaxSize", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var enabled: PropertyPath<Bool> { PropertyPath<Bool>(self, "Enabled") }
        public var keepDays: PropertyPath<Int32> { PropertyPath<Int32>(self, "KeepDays") }
        public var maxSize: PropertyPath<Int64> { PropertyPath<Int64>(self, "MaxSize") }
    }
}

/// `Outpost.Mobile.Throttling`.
public struct MobileThrottling: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "Throttling")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Enabled`, Edm.Boolean, not null.
    public var enabled: Bool? {
        get { odataEntity.typedValue(0, "Enabled") }
        set { odataEntity.setTypedValue(0, "Enabled", newValue) }
    }

    /// `PerMinute`, Edm.Int32, not null.
    public var perMinute: Int32? {
        get { odataEntity.typedValue(1, "PerMinute") }
        set { odataEntity.setTypedValue(1, "PerMinute", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var enabled: PropertyPath<Bool> { PropertyPath<Bool>(self, "Enabled") }
        public var perMinute: PropertyPath<Int32> { PropertyPath<Int32>(self, "PerMinute") }
    }
}

/// `Outpost.Mobile.UsagePolicy`.
public struct MobileUsagePolicy: TypedComplex {
    public static let typeName: QualifiedName = QualifiedName("Outpost.Mobile", "UsagePolicy")
    public static var odataMetadata: GeneratedMetadata { MobileAPIMetadata.metadata }
    public static let odataShape: TypeShape = MobileAPIMetadata.metadata.shape(typeName)
    public var odataEntity: ODataEntity

    public init(odataEntity: ODataEntity) {
        self.odataEntity = odataEntity
    }

    /// `Collect`, Edm.Boolean, not null.
    public var collect: Bool? {
        get { odataEntity.typedValue(0, "Collect") }
        set { odataEntity.setTypedValue(0, "Collect", newValue) }
    }

    /// `Cellular`, Edm.Boolean, not null.
    public var cellular: Bool? {
        get { odataEntity.typedValue(1, "Cellular") }
        set { odataEntity.setTypedValue(1, "Cellular", newValue) }
    }

    /// `MaxRecords`, Edm.Int32, not null.
    public var maxRecords: Int32? {
        get { odataEntity.typedValue(2, "MaxRecords") }
        set { odataEntity.setTypedValue(2, "MaxRecords", newValue) }
    }

    /// The properties by name, for queries.
    public struct Paths: TypedPaths {
        public var odataPath: String

        public init(odataPath: String) {
            self.odataPath = odataPath
        }

        public var collect: PropertyPath<Bool> { PropertyPath<Bool>(self, "Collect") }
        public var cellular: PropertyPath<Bool> { PropertyPath<Bool>(self, "Cellular") }
        public var maxRecords: PropertyPath<Int32> { PropertyPath<Int32>(self, "MaxRecords") }
    }
}
