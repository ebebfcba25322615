import Foundation
import Testing

@Suite("Header fields")
struct HeaderFieldTests {
    /// The arguments of a request inside the process are in its context. A field could come from a stranger, and
    /// has no type.
    @Test("the package's own fields never carry a value from one provider to the next")
    func sideChannels() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var (count, found) = (0, Set<String>())
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            count += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /"(?:X-)?Outpost-[A-Za-z-]+"/) {
                found.insert("\(file.lastPathComponent): \(match.output)")
            }
        }
        #expect(count > 500)
        // The fields of the device API are on the wire between a device and its server.
        let inside = found.filter { !$0.hasPrefix("MobileFieldNames.swift") }
        #expect(found.count > inside.count)
        // It tells an app where a response came from.
        #expect(inside == [#"ResponseCache.swift: "X-Outpost-Cache""#])
    }
}
