import Foundation
import ServerState
import Testing

@testable import MobileServer

@Suite("The commands log and bundle")
struct DeviceServiceCommandTests {
    private func prepared() async throws -> ServerTool {
        let tool = try ServerTool()
        try await tool.run("init", tool.data)
        let file = try tool.write("title: Shop\nsecurity: {guest: {kind: anonymous}}\n", to: "shop.yaml")
        try await tool.done("app", "import", "shop", file, "--activate")
        return tool
    }

    @Test("A bundle is added, staged, made the default and removed")
    func bundles() async throws {
        let tool = try await prepared()
        // An archive without entries.
        let empty = Data([0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18))
        let archive = tool.path("logo.zip")
        try empty.write(to: URL(fileURLWithPath: archive))
        try await tool.done("bundle", "add", "shop", archive, "--name", "logo", "--bundle-version", "1")
        try await tool.done("bundle", "stage", "shop", "logo", "1", "current")
        try await tool.done("bundle", "default", "shop", "logo", "1")
        let listed = try await tool.done("bundle", "list", "shop")
        #expect(listed.output.contains("logo") && listed.output.contains("current") && listed.output.contains("yes"))
        let again = try await tool.run(
            "bundle", "add", "shop", archive, "--name", "logo", "--bundle-version", "1", "--data", tool.data)
        #expect(again.code == 1, "\(again.errors)")
        let text = try tool.write("no archive", to: "text.zip")
        let refused = try await tool.run(
            "bundle", "add", "shop", text, "--name", "logo", "--bundle-version", "2", "--data", tool.data)
        #expect(refused.code == 1 && refused.errors.contains("zip"), "\(refused.errors)")
        try await tool.done("bundle", "remove", "shop", "logo", "1")
        let gone = try await tool.run("bundle", "stage", "shop", "logo", "1", "current", "--data", tool.data)
        #expect(gone.code == 1 && gone.errors.contains("no bundle"), "\(gone.errors)")
    }

    @Test("Hostile text of a device is shown without its control characters, and exported as it is")
    func logs() async throws {
        let tool = try await prepared()
        let folder = ServerFolder(path: tool.data)
        let hostile = Array("line\u{1B}[2J\u{7}\n<b>".utf8)
        let (state, _) = try await folder.open(ServerConfiguration(), build: "test")
        let shop = try #require(try await state.applications.application(named: "shop"))
        _ = try await state.uploads.begin(
            NewDeviceUpload(
                id: "u1", application: shop.id, registration: "d\u{1B}[1m", user: 1, kind: .crash,
                note: "note\u{1B}]0;x\u{7}", expiresAt: .current() + .seconds(3600)))
        let size = try await state.uploads.append(hostile, to: "u1", at: 0)
        _ = try await state.uploads.finish("u1", size: size, digest: [1], expiresAt: .current() + .seconds(3600))
        await state.close()
        let listed = try await tool.done("log", "list", "shop", "--kind", "crash")
        #expect(listed.output.contains("u1") && !listed.output.contains("\u{1B}"), "\(listed.output)")
        let shown = try await tool.done("log", "show", "u1")
        #expect(shown.output.contains("line [2J \n<b>") && !shown.output.contains("\u{1B}"), "\(shown.output)")
        let file = tool.path("out.bin")
        try await tool.done("log", "export", "u1", file)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(hostile))
        #expect(try await tool.run("log", "export", "u1", file, "--data", tool.data).code == 1)
        try await tool.done("log", "delete", "u1")
        #expect(try await tool.run("log", "show", "u1", "--data", tool.data).code == 1)
        #expect(try await tool.run("log", "list", "--kind", "film", "--data", tool.data).code == 2)
    }
}
