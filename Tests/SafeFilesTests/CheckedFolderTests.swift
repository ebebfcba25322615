import Foundation
import SafeFiles
import Testing

@Suite("Files below a checked folder")
struct CheckedFolderTests {
    private func reason(_ body: () throws -> Void) -> SafeFileError.Reason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SafeFileError)?.reason
        }
    }

    @Test("A link is never followed, with or without a target")
    func links() throws {
        let folder = try TemporaryFolder()
        try folder.file("precious")
        try folder.link("planted", to: folder("precious"))
        try folder.link("dangling", to: folder("nothing"))
        let checked = try CheckedFolder(folder.path)
        for name in ["planted", "dangling"] {
            for flags in [O_RDONLY, O_RDWR, O_RDWR | O_CREAT] {
                #expect(reason { close(try checked.open(name, flags)) } == .link, "\(name)")
            }
            #expect(reason { _ = try checked.read(name, limit: 100) } == .link)
            #expect(reason { _ = try checked.folder(name) } == .link)
        }
        #expect(try folder.content("precious") == "content")
        #expect(!FileManager.default.fileExists(atPath: folder("nothing")))
    }

    @Test("A file replaces a link, and the target of the link stays")
    func replacingLink() throws {
        let folder = try TemporaryFolder()
        try folder.file("precious")
        try folder.link("planted", to: folder("precious"))
        try CheckedFolder(folder.path).replace("planted", with: Array("new".utf8))
        #expect(try folder.content("planted") == "new" && folder.content("precious") == "content")
        #expect(try folder.mode("planted") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["planted", "precious"])
    }

    @Test("A file with several names can be read but not changed")
    func hardLinks() throws {
        let folder = try TemporaryFolder()
        try folder.file("precious")
        try FileManager.default.linkItem(atPath: folder("precious"), toPath: folder("planted"))
        let checked = try CheckedFolder(folder.path)
        #expect(reason { close(try checked.open("planted", O_RDWR | O_CREAT)) } == .severalNames)
        #expect(try checked.read("planted", limit: 100) == Array("content".utf8))
    }

    @Test("Pipes, devices and folders are refused at once", .timeLimit(.minutes(1)))
    func specialFiles() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        try folder.folder("folder")
        let checked = try CheckedFolder(folder.path)
        for name in ["pipe", "folder"] {
            for flags in [O_RDONLY, O_WRONLY, O_RDWR | O_CREAT] {
                #expect(reason { close(try checked.open(name, flags)) } == .notRegular, "\(name)")
            }
        }
        #expect(reason { close(try CheckedFolder("/dev").open("zero", O_RDONLY)) } == .notRegular)
    }

    @Test("A name with a slash, and a request to cut a file at once, are refused")
    func names() throws {
        let folder = try TemporaryFolder()
        try folder.file("precious")
        try folder.folder("below")
        let checked = try CheckedFolder(folder("below"))
        #expect(reason { close(try checked.open("../precious", O_RDWR)) } == .system(code: EINVAL))
        #expect(reason { close(try checked.open("", O_RDWR)) } == .system(code: EINVAL))
        #expect(reason { _ = try checked.folder("..") } == .system(code: EINVAL))
        #expect(
            reason { close(try CheckedFolder(folder.path).open("precious", O_RDWR | O_TRUNC)) }
                == .system(code: EINVAL))
        #expect(try folder.content("precious") == "content")
    }

    @Test("A link of another user in a shared folder is not followed", .enabled(if: geteuid() == 0))
    func sharedFolder() throws {
        let folder = try TemporaryFolder()
        for (name, mode) in [("shared", 0o1777), ("private", 0o700)] {
            try folder.folder(name, mode: mode)
            try folder.link(name + "/link", to: folder("precious"))
            #expect(LinkCheck.mayFollow(folder(name + "/link")))
            #expect(lchown(folder(name + "/link"), 65_534, 65_534) == 0)
            #expect(LinkCheck.mayFollow(folder(name + "/link")) == (name == "private"))
        }
    }

    @Test("A file one byte beyond the limit is refused")
    func limit() throws {
        let folder = try TemporaryFolder()
        try folder.file("file", "12345")
        let checked = try CheckedFolder(folder.path)
        #expect(try checked.read("file", limit: 5) == Array("12345".utf8))
        #expect(reason { _ = try checked.read("file", limit: 4) } == .tooLong(limit: 4))
        #expect(try checked.read("none", limit: 4) == nil)
    }

    @Test(
        "A folder in which others can replace files is refused unless it has the sticky bit",
        arguments: [(0o700, true), (0o755, true), (0o777, false), (0o757, false), (0o1777, true)])
    func ours(mode: Int, isOurs: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.folder("below", mode: mode)
        _ = try CheckedFolder(folder("below"))
        let found = reason { _ = try CheckedFolder(folder("below"), .ours) }
        #expect(found == (isOurs ? nil : .openFolder(mode: UInt32(mode))))
    }

    @Test(
        "A path is split at its last component",
        arguments: [
            ("a", "", "a"), ("a/", "", "a"), ("/a", "/", "a"), ("a/b//", "a/", "b"), ("/", "/", ""),
        ])
    func places(path: String, folder: String, name: String) {
        let place = CheckedFolder.place(of: path)
        #expect(place.folder == folder && place.name == name)
    }
}
