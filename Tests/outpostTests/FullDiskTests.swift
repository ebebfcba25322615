import ForeignPrograms
import Foundation
import Testing

@Suite("A clone on a full disk", .serialized, .enabled(if: geteuid() == 0))
struct FullDiskTests {
    @Test("A clone on a full disk can be read and exported, and refuses changes with a reason")
    func reading() async throws {
        let site = try Site()
        try await site.serve()
        let disk = site.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let mounted = try await Command.run("mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "none", disk)
        // Some sandboxes allow no file systems to be mounted; the same is tested with a VFS that fails.
        guard mounted.status == 0 else { return }
        do {
            try await read(site, disk)
        } catch {
            _ = try await Command.run("umount", disk)
            throw error
        }
        #expect(try await Command.run("umount", disk).status == 0)
    }

    private func read(_ site: Site, _ disk: String) async throws {
        let tool = site.tool
        let clone = disk + "/clone"
        let cloned = try await tool.run("clone", site.url, clone)
        #expect(cloned.code == 0, "\(cloned.errors)")
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4711").code == 0)
        // The last bytes go, too.
        for size in ["1M", "4k", "1"] {
            _ = try await Command.run("sh", "-c", "dd if=/dev/zero bs=\(size) of='\(disk)/fill\(size)' 2>/dev/null")
        }
        let status = try await tool.run("status", clone)
        #expect(status.code == 0 && status.output.contains("update Products(6)"), "\(status.errors)")
        let query = try await tool.run("query", clone, "Products(6)?$select=Stock", "--json")
        #expect(query.code == 0 && query.output.contains("4711"), "\(query.errors)")
        let verify = try await tool.run("verify", clone)
        #expect(verify.code == 0 && verify.output.contains("is whole"), "\(verify.errors)")
        let export = try await tool.run("export", clone, "--to", site.path("export"))
        #expect(export.code == 0, "\(export.errors)")
        let change = try await tool.run("update", clone, "Products(6)", "Stock=1")
        #expect(change.code == 1 && change.errors.contains("no room left"), "\(change.errors)")
        for name in try FileManager.default.contentsOfDirectory(atPath: disk) where name.hasPrefix("fill") {
            try FileManager.default.removeItem(atPath: disk + "/" + name)
        }
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=1").code == 0)
    }
}
