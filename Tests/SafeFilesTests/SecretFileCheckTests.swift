import Foundation
import SafeFiles
import Testing

@Suite("Secret files that a person names")
struct SecretFileCheckTests {
    private func problem(_ path: String) -> SecretFileCheck.Problem? {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        return SecretFileCheck.problem(of: path, file)
    }

    @Test(
        "A file that anyone else can read or write is a problem",
        arguments: [
            (0o600, nil), (0o400, nil), (0o640, .readable(mode: 0o640)), (0o644, .readable(mode: 0o644)),
            (0o604, .readable(mode: 0o604)), (0o620, .writable(mode: 0o620)), (0o602, .writable(mode: 0o602)),
        ] as [(Int, SecretFileCheck.Problem?)])
    func modes(mode: Int, expected: SecretFileCheck.Problem?) throws {
        let folder = try TemporaryFolder()
        #expect(problem(try folder.file("key", mode: mode)) == expected)
    }

    @Test("A file in a folder where others can replace it is a problem, even if the file is private")
    func openFolder() throws {
        let folder = try TemporaryFolder()
        try folder.folder("shared", mode: 0o777)
        try folder.file("shared/key")
        #expect(problem(folder("shared/key")) == .openFolder(path: folder("shared"), mode: 0o777))
        try folder.folder("sticky", mode: 0o1777)
        #expect(problem(try folder.file("sticky/key")) == nil)
    }

    @Test("A parent folder in which others can replace the next one is a problem unless it has the sticky bit")
    func foldersAbove() throws {
        let folder = try TemporaryFolder()
        try folder.folder("shared", mode: 0o777)
        try folder.folder("shared/mine")
        try folder.folder("shared/mine/deep")
        try folder.file("shared/mine/deep/key")
        let expected = SecretFileCheck.Problem.openFolder(path: folder("shared"), mode: 0o777)
        #expect(problem(folder("shared/mine/deep/key")) == expected)
        #expect(problem(folder("shared/mine/../mine/./deep//key")) == expected)
        try folder.link("toFile", to: "shared/mine/deep/key")
        try folder.link("toFolder", to: folder("shared/mine"))
        try folder.folder("own")
        try folder.link("own/up", to: "../toFolder/deep")
        for name in ["toFile", "toFolder/deep/key", "own/up/key"] {
            #expect(problem(folder(name)) == expected, "\(name)")
        }
        try folder.folder("sticky", mode: 0o1777)
        try folder.folder("sticky/mine")
        #expect(problem(try folder.file("sticky/mine/key")) == nil)
    }

    @Test("A file that cannot be looked up is a problem, which is named")
    func unchecked() throws {
        #expect(SecretFileCheck.problem(of: "key", -1) == .unchecked(path: "key", code: EBADF))
        let folder = try TemporaryFolder()
        let path = try folder.file("key")
        let file = open(path, O_RDONLY)
        defer { close(file) }
        for (name, code) in [("none/key", ENOENT), ("key/key", ENOTDIR)] {
            let place = name == "none/key" ? folder("none") : folder(name)
            #expect(SecretFileCheck.problem(of: folder(name), file) == .unchecked(path: place, code: code))
        }
        try folder.link("loop", to: "loop")
        #expect(SecretFileCheck.problem(of: folder("loop"), file) == .unchecked(path: folder("loop"), code: ELOOP))
        // The file stays open, and nobody can put another in its place.
        #expect(unlink(path) == 0)
        #expect(SecretFileCheck.problem(of: path, file) == nil)
    }

    @Test("A link is accepted unless others can replace it or its target")
    func links() throws {
        let folder = try TemporaryFolder()
        try folder.file("key")
        try folder.link("link", to: "key")
        #expect(problem(folder("link")) == nil)
        try folder.folder("shared", mode: 0o777)
        try folder.link("shared/link", to: folder("key"))
        #expect(problem(folder("shared/link")) == .openFolder(path: folder("shared"), mode: 0o777))
        try folder.file("shared/key")
        try folder.link("second", to: "shared/key")
        try folder.link("first", to: folder("second"))
        #expect(problem(folder("first")) == .openFolder(path: folder("shared"), mode: 0o777))
        try folder.file("open", mode: 0o644)
        try folder.link("toOpen", to: "open")
        #expect(problem(folder("toOpen")) == .readable(mode: 0o644))
    }

    @Test("A folder of another user further up is a problem", .enabled(if: geteuid() == 0))
    func foldersOfOtherUsersAbove() throws {
        let folder = try TemporaryFolder()
        try folder.folder("theirs")
        try folder.folder("theirs/mine")
        try folder.file("theirs/mine/key")
        #expect(lchown(folder("theirs"), 65_534, 65_534) == 0)
        #expect(problem(folder("theirs/mine/key")) == .foreignFolder(path: folder("theirs"), owner: 65_534))
    }

    @Test("A file, link or folder of another user is a problem", .enabled(if: geteuid() == 0))
    func otherUsers() throws {
        let folder = try TemporaryFolder()
        try folder.file("key")
        try folder.folder("theirs")
        try folder.file("theirs/key")
        try folder.folder("sticky", mode: 0o1777)
        try folder.link("sticky/link", to: folder("key"))
        #expect(problem(folder("sticky/link")) == nil)
        for name in ["theirs", "sticky/link"] { #expect(lchown(folder(name), 65_534, 65_534) == 0) }
        #expect(problem(folder("theirs/key")) == .foreignFolder(path: folder("theirs"), owner: 65_534))
        #expect(problem(folder("sticky/link")) == .foreign(owner: 65_534))
        #expect(chown(folder("key"), 65_534, 65_534) == 0)
        #expect(problem(folder("key")) == .foreign(owner: 65_534))
    }

    @Test("A pipe is not a file that others can read")
    func pipes() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        #expect(SecretFileCheck.problem(of: "/dev/fd/\(ends[0])", ends[0]) == nil)
    }
}
