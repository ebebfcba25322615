// swift-tools-version: 6.2
import PackageDescription

// Each library product used from outside, the way an app would.
func outpost(_ product: String) -> Target.Dependency { .product(name: product, package: "outpost") }

let package = Package(
    name: "Everything",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "outpost", path: "../..", traits: ["Server"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // The first example in Swift of the README, beside a module with the names of Apple's frameworks.
        .target(name: "AppleFrameworks"),
        // A new project of Xcode wants the import of the module of every member, too.
        .executableTarget(
            name: "KitApp", dependencies: ["AppleFrameworks", outpost("OutpostKit")],
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
        // The program of the tutorial "Your first offline app".
        .executableTarget(name: "AddressBook", dependencies: [outpost("OutpostKit")]),
        // The examples in the documentation of public types.
        .target(
            name: "Examples",
            dependencies: [
                outpost("ODataModel"), outpost("ODataQuery"), outpost("ODataService"), outpost("OutpostKit"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
        // Every product.
        .executableTarget(
            name: "Everything",
            dependencies: [
                outpost("DataVault"),
                outpost("EncryptedSQLite"),
                outpost("ErrorCodes"),
                outpost("MobileClient"),
                outpost("ODataCache"),
                outpost("ODataClient"),
                outpost("ODataDatabases"),
                outpost("ODataFormat"),
                outpost("ODataGenerator"),
                outpost("ODataHTTP"),
                outpost("ODataModel"),
                outpost("ODataQuery"),
                outpost("ODataServer"),
                outpost("ODataService"),
                outpost("ODataSQL"),
                outpost("ODataStore"),
                outpost("ODataTransportConformance"),
                outpost("ODataTransportNIO"),
                outpost("ODataTransportURLSession"),
                outpost("ObjectAPI"),
                outpost("Secrets"),
                outpost("SecureStorage"),
                outpost("ServerMetrics"),
                outpost("Supportability"),
                outpost("OfflineOData"),
                outpost("OutpostKit"),
                .product(name: "Logging", package: "swift-log"),
            ]),
    ]
)
