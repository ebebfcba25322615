// swift-tools-version: 6.2
import PackageDescription

// Each library product used from outside, the way an app would.
func outpost(_ product: String) -> Target.Dependency { .product(name: product, package: "outpost") }

let package = Package(
    name: "Consumers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "outpost", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .executableTarget(name: "UsesDataVault", dependencies: [outpost("DataVault")]),
        .executableTarget(name: "UsesEncryptedSQLite", dependencies: [outpost("EncryptedSQLite"), outpost("Secrets")]),
        .executableTarget(
            name: "UsesErrorCodes", dependencies: [outpost("ErrorCodes"), outpost("Secrets")]),
        .executableTarget(
            name: "UsesODataCache", dependencies: [outpost("ODataCache"), outpost("ODataModel"), outpost("Secrets")]),
        .executableTarget(
            name: "UsesODataClient",
            dependencies: [
                outpost("ODataClient"), outpost("ODataHTTP"), outpost("ODataQuery"), outpost("ODataService"),
            ]),
        .executableTarget(name: "UsesODataFormat", dependencies: [outpost("ODataFormat"), outpost("ODataModel")]),
        .executableTarget(
            name: "UsesODataGenerator", dependencies: [outpost("ODataGenerator"), outpost("ODataModel")]),
        .executableTarget(name: "UsesODataHTTP", dependencies: [outpost("ODataHTTP")]),
        .executableTarget(name: "UsesODataModel", dependencies: [outpost("ODataModel")]),
        .executableTarget(name: "UsesODataQuery", dependencies: [outpost("ODataQuery")]),
        .executableTarget(name: "UsesODataServer", dependencies: [outpost("ODataServer")]),
        .executableTarget(name: "UsesODataService", dependencies: [outpost("ODataService")]),
        .executableTarget(name: "UsesODataStore", dependencies: [outpost("ODataStore"), outpost("ODataModel")]),
        .executableTarget(
            name: "UsesODataTransportConformance",
            dependencies: [outpost("ODataHTTP"), outpost("ODataTransportConformance")]),
        .executableTarget(name: "UsesODataTransportNIO", dependencies: [outpost("ODataTransportNIO")]),
        .executableTarget(name: "UsesODataTransportURLSession", dependencies: [outpost("ODataTransportURLSession")]),
        .executableTarget(name: "UsesOfflineOData", dependencies: [outpost("OfflineOData"), outpost("ODataStore")]),
        .executableTarget(name: "UsesSecrets", dependencies: [outpost("Secrets")]),
        .executableTarget(name: "UsesSecureStorage", dependencies: [outpost("SecureStorage"), outpost("Secrets")]),
        .executableTarget(
            name: "UsesSupportability",
            dependencies: [outpost("Supportability"), .product(name: "Logging", package: "swift-log")]),
    ]
)
