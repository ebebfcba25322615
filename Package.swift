// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors in CI only: a newer compiler's new warning must not stop an app from building.
let settings: [SwiftSetting] =
    Context.environment["OUTPOST_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")

let package = Package(
    name: "outpost",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ODataModel", targets: ["ODataModel"]),
        .library(name: "ODataQuery", targets: ["ODataQuery"]),
        .library(name: "ODataFormat", targets: ["ODataFormat"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // floor 0
        .target(name: "ODataModel", dependencies: ["CLibXML2"], swiftSettings: settings),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        // floor 1
        .target(name: "ODataQuery", dependencies: ["ODataModel"], swiftSettings: settings),
        // floor 2
        .target(name: "ODataFormat", dependencies: ["ODataModel"], swiftSettings: settings),
        // tests
        .testTarget(name: "ODataModelTests", dependencies: ["ODataModel"], swiftSettings: settings),
        .testTarget(name: "ODataFormatTests", dependencies: ["ODataFormat", "ODataModel"], swiftSettings: settings),
    ]
)
