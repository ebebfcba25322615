import Foundation
import MobileProtocol
import ODataGenerator
import ODataModel
import Testing

/// The metadata of the device API, and the proxies that are made of them (`mobile-server.md` 0.6).
@Suite("Proxies of the device API") struct GoldenProxyTests {
    /// Whether the committed code is replaced: `OUTPOST_RECORD_GOLDEN=1 swift test --filter GoldenProxyTests`.
    private static let isRecording = ProcessInfo.processInfo.environment["OUTPOST_RECORD_GOLDEN"] != nil

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/Mobile/MobileProtocol/Generated")

    /// The types have names that no framework and no other target of the package has.
    private static let configuration: GeneratorConfiguration = {
        let types = [
            "Bundle", "DefiningQuery", "Destination", "FeatureParameter", "FeatureSwitch", "Features", "LockOrder",
            "LogPolicy",
            "LogRecord", "Message", "OfflineLimit", "PasswordPolicy", "PersonalizationValue", "Policies",
            "Registration", "SecurityPolicy", "Setting",
            "SharedDocument", "StoreOptions", "StoreUploadPolicy", "Subscription", "Throttling", "Upload",
            "UsagePolicy",
        ]
        let names = types.map { ("\(MobileNamespace.name).\($0)", "Mobile\($0)") }
        return GeneratorConfiguration(
            name: "MobileAPI", access: .public, names: Dictionary(uniqueKeysWithValues: names), files: 3)
    }()

    @Test("The committed proxies equal the generated code, byte for byte")
    func golden() throws {
        let model = try CSDLReader.read(Array(DeviceCSDL.text.utf8))
        let code = try Generator(model, Self.configuration).generate()
        #expect(code.omissions.isEmpty)
        if Self.isRecording { try code.write(to: Self.folder) }
        let committed = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(committed) == Set(code.files.map(\.path)))
        for file in code.files {
            let text = try String(contentsOf: Self.folder.appendingPathComponent(file.path), encoding: .utf8)
            #expect(file.text == text, "\(file.path) differs; record it again if that is meant")
        }
    }

    @Test("The metadata declare the resources of this version, and the embedded model equals them")
    func resources() throws {
        let model = try CSDLReader.read(Array(DeviceCSDL.text.utf8))
        #expect(
            model.container.entitySets.map(\.name)
                == [
                    "Registrations", "Destinations", "Uploads", "Shared", "Messages", "Subscriptions", "Bundles",
                    "LogRecords", "PersonalizationValues",
                ])
        #expect(model.container.singletons.map(\.name) == ["Policies", "Features"])
        #expect(model.shape(QualifiedName(MobileNamespace.name, "Registration"))?.key.map(\.name) == ["ID"])
        for type in ["Registration", "Setting", "Policies", "Features", "Destination"] {
            let name = QualifiedName(MobileNamespace.name, type)
            #expect(MobileAPIMetadata.model.shape(name)?.properties.count == model.shape(name)?.properties.count)
        }
    }

    @Test("Each error name has a status of the protocol")
    func statuses() {
        for name in MobileErrorName.allCases {
            #expect((400...599).contains(name.status))
            #expect(name.rawValue.first?.isUppercase == true)
        }
        #expect(MobileErrorName.settingNotEditable.legacyNumber == 70005)
    }
}
