import ForeignPrograms
import Foundation
import Testing

@Suite("The installation of the tool")
struct InstallTests {
    private func install(_ site: Site, _ arguments: String...) async throws -> (status: Int32, output: String) {
        try await Command.run(
            [
                "PREFIX=/opt/outpost", "DESTDIR=\(site.path("stage"))", "TOOL=\(Tool.executable.path)",
                "SOURCE_DATE_EPOCH=86400", Site.root.appendingPathComponent("scripts/install.sh").path,
            ] + arguments, includesErrors: true)
    }

    @Test("Program, manual pages and completions are installed, and only these files are removed again")
    func both() async throws {
        let site = try Site()
        let target = site.path("stage/opt/outpost")
        let installed = try await install(site)
        #expect(installed.status == 0, "\(installed.output)")
        func text(_ path: String) throws -> String { try String(contentsOfFile: "\(target)/\(path)", encoding: .utf8) }
        #expect(FileManager.default.isExecutableFile(atPath: "\(target)/bin/outpost"))
        #expect(try text("share/bash-completion/completions/outpost").contains("_outpost"))
        #expect(try text("share/zsh/site-functions/_outpost").hasPrefix("#compdef outpost"))
        #expect(try text("share/fish/vendor_completions.d/outpost.fish").contains("complete -c 'outpost'"))

        for command in ["outpost", "outpost-clone", "outpost-keys", "outpost-keys-new", "outpost-new"] {
            let page = try text("share/man/man1/\(command).1")
            #expect(page.contains(".SH SYNOPSIS") && page.contains("\"1970-01-02\""), "\(command)")
        }
        let pages = try FileManager.default.contentsOfDirectory(atPath: "\(target)/share/man/man1")
        #expect(pages.count > 50)
        let clone = try text("share/man/man1/outpost-clone.1")
        #expect(clone.contains("\\-\\-dry\\-run") && clone.contains("outpost\\-clone \\- "))

        let foreign = "\(target)/share/man/man1/outpost-other.1"
        try Data().write(to: URL(fileURLWithPath: foreign))
        let removed = try await install(site, "--uninstall")
        #expect(removed.status == 0, "\(removed.output)")
        let left = try #require(FileManager.default.enumerator(atPath: target)).compactMap { $0 as? String }
            .filter { !$0.isFolder(below: target) }
        #expect(left == ["share/man/man1/outpost-other.1"])
        let again = try await install(site, "--uninstall")
        #expect(again.status == 1 && again.output.contains("nothing is installed"))
    }

    @Test("A list of installed files that leads out of the prefix removes nothing there")
    func leadsOut() async throws {
        let site = try Site()
        let list = site.path("stage/opt/outpost/share/outpost")
        try FileManager.default.createDirectory(atPath: list, withIntermediateDirectories: true)
        try Data("../../mine\n".utf8).write(to: URL(fileURLWithPath: list + "/installed-files"))
        try Data().write(to: URL(fileURLWithPath: site.path("stage/mine")))
        let removed = try await install(site, "--uninstall")
        #expect(removed.status == 1 && removed.output.contains("not below the prefix"))
        #expect(FileManager.default.fileExists(atPath: site.path("stage/mine")))
    }
}

extension String {
    /// Whether the path is that of a folder.
    fileprivate func isFolder(below folder: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(folder)/\(self)", isDirectory: &isFolder) && isFolder.boolValue
    }
}
