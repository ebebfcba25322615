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
        .library(name: "Secrets", targets: ["Secrets"]),
        .library(name: "EncryptedSQLite", targets: ["EncryptedSQLite"]),
        .library(name: "DataVault", targets: ["DataVault"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // floor 1
        .target(name: "Secrets", dependencies: [crypto, cryptoExtras], swiftSettings: settings),
        // floor 2
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "EncryptedSQLite", dependencies: ["Secrets", "CSQLite", crypto], swiftSettings: settings),
        .target(name: "DataVault", dependencies: ["Secrets", crypto], swiftSettings: settings),
        // tests
        .testTarget(name: "SecretsTests", dependencies: ["Secrets"], swiftSettings: settings),
        .testTarget(name: "EncryptedSQLiteTests", dependencies: ["EncryptedSQLite", "CSQLite"], swiftSettings: settings),
        .testTarget(name: "DataVaultTests", dependencies: ["DataVault"], swiftSettings: settings),
    ]
)
