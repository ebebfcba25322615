import Foundation
import ODataGenerator
import ODataModel
import Testing

/// Models that are larger than any in the corpus.
@Suite("Large models", .serialized)
struct SyntheticModelTests {
    private static let entityTypes = 650
    /// The maximum processor time of the compiler for 650 types, in seconds. It is several times the measured
    /// value.
    private static let limit = 180.0

    /// The compiler of the tests and its modules; `nil` if they are not available.
    private static let compiler: (swiftc: URL, modules: URL)? = {
        let modules = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("Modules")
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let swiftc = folders.map { URL(fileURLWithPath: "\($0)/swiftc") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        let module = modules.appendingPathComponent("ODataService.swiftmodule").path
        guard let swiftc, FileManager.default.fileExists(atPath: module) else { return nil }
        return (swiftc, modules)
    }()

    /// The file for the metadata: `OUTPOST_RECORD_SYNTHETIC=FILE swift test --filter SyntheticModelTests`
    /// writes it for measurements.
    private static let record = ProcessInfo.processInfo.environment["OUTPOST_RECORD_SYNTHETIC"]

    @Test("Code for 650 entity types is identical each time, and names omitted declarations")
    func generation() throws {
        let xml = SyntheticMetadata.xml(entityTypes: Self.entityTypes, seed: 7)
        if let record = Self.record { try xml.write(toFile: record, atomically: true, encoding: .utf8) }
        #expect(xml == SyntheticMetadata.xml(entityTypes: Self.entityTypes, seed: 7))
        let model = try CSDLReader.read(Array(xml.utf8))
        let code = try Generator(model, GeneratorConfiguration(files: 12)).generate()
        #expect(code == (try Generator(model, GeneratorConfiguration(files: 12)).generate()))
        #expect(code.structuredTypes == Self.entityTypes + Self.entityTypes / 3)
        #expect(code.enumTypes == Self.entityTypes / 10)
        #expect(code.omissions.isEmpty, "\(code.omissions)")
    }

    @Test(
        "Code for random small models and for 650 entity types compiles in bounded time",
        .enabled(if: compiler != nil, "no compiler, or no modules to compile against"),
        arguments: [(40, 1), (40, 2), (40, 3), (entityTypes, 7)] as [(Int, UInt64)])
    func compilation(entityTypes: Int, seed: UInt64) async throws {
        let compiler = try #require(Self.compiler)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("synthetic-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try CSDLReader.read(Array(SyntheticMetadata.xml(entityTypes: entityTypes, seed: seed).utf8))
        let code = try Generator(model, GeneratorConfiguration(files: 12)).generate()
        try code.write(to: folder)
        let root = Documents.folder.deletingLastPathComponent().deletingLastPathComponent()
        let arguments =
            [
                "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-module-name", "Generated",
                "-I", compiler.modules.path, "-Xcc",
                "-fmodule-map-file=\(root.path)/Sources/C/CLibXML2/module.modulemap", "-Xcc", "-I/usr/include/libxml2",
            ] + code.files.map { folder.appendingPathComponent($0.path).path }
        let before = Self.childrenTime()
        let (status, message) = try await Self.run(compiler.swiftc, arguments)
        #expect(status == 0, "\(message.prefix(2000))")
        let seconds = Self.childrenTime() - before
        #expect(seconds < Self.limit, "\(code.lineCount) lines took \(seconds) s")
    }

    /// Runs a program on a separate thread, because other tests need the threads of the pool.
    private static func run(_ program: URL, _ arguments: [String]) async throws -> (Int32, String) {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                let process = Process()
                process.executableURL = program
                process.arguments = arguments
                let output = Pipe()
                process.standardOutput = output
                process.standardError = output
                do {
                    try process.run()
                } catch {
                    return continuation.resume(throwing: error)
                }
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                continuation.resume(returning: (process.terminationStatus, text))
            }
        }
    }

    /// Returns the processor time of all ended child processes, in seconds.
    private static func childrenTime() -> Double {
        var spent = tms()
        times(&spent)
        return Double(spent.tms_cutime) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }
}
