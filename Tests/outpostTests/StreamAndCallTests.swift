import Foundation
import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("Streams and operations from the terminal")
struct StreamAndCallTests {
    @Test("stream load, get, put and remove work on media entities and stream properties")
    func streams() async throws {
        let (site, service) = (try Site(), try await StudioService())
        let tool = site.tool
        try await service.serving { url in
            let (clone, file) = (site.path("clone"), site.path("picture.txt"))
            #expect(try await tool.run("clone", url, clone).code == 0)
            let missing = try await tool.run("stream", "get", clone, "Pictures(1)", "--output", file)
            #expect(missing.code == 1 && missing.errors.contains("outpost stream load"), "\(missing.errors)")
            let load = try await tool.run("stream", "load", clone, "Pictures(1)", "--json")
            #expect(load.code == 0 && load.output.contains("\"isNew\" : true"), "\(load.output) \(load.errors)")
            #expect(try await tool.run("stream", "get", clone, "Pictures(1)").output == "sea")
            let got = try await tool.run("stream", "get", clone, "Pictures(1)/$value", "--output", file, "--json")
            #expect(got.code == 0 && got.output.contains("\"bytes\" : 3"), "\(got.output) \(got.errors)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "sea")
            try Data("small".utf8).write(to: URL(fileURLWithPath: file))
            let put = try await tool.run("stream", "put", clone, "Pictures(1)/Thumb", file)
            #expect(put.code == 0 && put.output.hasPrefix("Replaced Pictures(1)/Thumb."), "\(put.output) \(put.errors)")
            let new = try await tool.run("stream", "put", clone, "Pictures", file, "--type", "text/x-note")
            #expect(new.code == 0 && new.output.hasPrefix("Created Pictures("), "\(new.output) \(new.errors)")
            let push = try await tool.run("push", clone)
            #expect(push.code == 0, "\(push.output) \(push.errors)")
            #expect(push.output.contains(" as Pictures(2)"), "\(push.output)")
            #expect(try await service.text(of: "Pictures(1)/Thumb") == "small")
            #expect(try await service.text(of: "Pictures(2)/$value") == "small")
            let removed = try await tool.run("stream", "remove", clone, "Pictures(1)/Thumb")
            #expect(removed.code == 0, "\(removed.errors)")
            #expect(try await tool.run("push", clone).code == 0)
            #expect(try await service.text(of: "Pictures(1)/Thumb") == nil)
        }
    }

    @Test(
        "an address without a stream is refused with the available ones",
        arguments: [
            (["get", "Albums(1)"], "no stream of its own"), (["get", "Albums(1)/Name"], "stream property"),
            (["remove", "Pictures(1)"], "outpost delete"), (["get", "Pictures(1)", "--json"], "--output"),
        ])
    func wrongStreams(arguments: [String], text: String) async throws {
        let (site, service) = (try Site(), try await StudioService())
        try await service.serving { url in
            let clone = site.path("clone")
            #expect(try await site.tool.run("clone", url, clone).code == 0)
            let result = try await site.tool.run(["stream", arguments[0], clone] + arguments.dropFirst())
            #expect(result.code == 2 && result.errors.contains(text), "\(result.errors)")
        }
    }

    @Test("an action waits for the push, or is called at once with --now")
    func actions() async throws {
        let (site, service) = (try Site(), try await StudioService())
        let tool = site.tool
        try await service.serving { url in
            let clone = site.path("clone")
            #expect(try await tool.run("clone", url, clone).code == 0)
            let queued = try await tool.run("call", clone, "Albums(1)/Rename", "Name=Autumn")
            #expect(queued.code == 0 && queued.output.contains("1 change to push"), "\(queued.output) \(queued.errors)")
            #expect(service.calls.isEmpty)
            let diff = try await tool.run("diff", clone)
            #expect(diff.output.contains(#"{"Name":"Autumn"}"#), "\(diff.output) \(diff.errors)")
            let now = try await tool.run("call", clone, "Reset", "--now")
            #expect(now.code == 0, "\(now.errors)")
            #expect(service.calls == ["Reset"])
            #expect(try await tool.run("push", clone).code == 0)
            #expect(service.calls == ["Reset", "Rename Autumn"])
            let wrong = try await tool.run("call", clone, "Albums(1)/Rename", "Nmae=x")
            #expect(wrong.code == 2 && wrong.errors.contains("Its parameters are Name"), "\(wrong.errors)")
            let unknown = try await tool.run("call", clone, "Resett")
            #expect(unknown.code == 2 && unknown.errors.contains("Did you mean Reset?"), "\(unknown.errors)")
        }
    }

    @Test("a function is called at once, with parameters as arguments or in its address")
    func functions() async throws {
        let (site, service) = (try Site(), try await StudioService())
        let tool = site.tool
        try await service.serving { url in
            let clone = site.path("clone")
            #expect(try await tool.run("clone", url, clone).code == 0)
            for arguments in [["Add", "left=4", "right=3"], ["Add(left=4,right=3)"]] {
                let result = try await tool.run(["call", clone] + arguments)
                #expect(result.output == "7\n", "\(result.output) \(result.errors)")
            }
            let json = try await tool.run("call", clone, "Add", "left=4", "right=3", "--json")
            #expect(json.output == "{\"value\":7}\n", "\(json.output)")
            let wrong = try await tool.run("call", clone, "Add", "left=x", "right=3")
            #expect(wrong.code == 1 && wrong.errors.contains("left is Edm.Int32"), "\(wrong.errors)")
        }
    }
}
