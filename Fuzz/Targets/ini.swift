// The '.ini' file of endpoints: a file that is read can be written, and reads back the same.

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    var application = ApplicationConfiguration()
    application.destinations = ["northwind": DestinationConfiguration(url: "https://example.com/")]
    var warnings: [ConfigurationProblem] = []
    do throws(ConfigurationError) {
        let read = try EndpointFile.applying(text, path: "f", to: application, warnings: &warnings)
        let written = EndpointFile.text(of: read)
        guard let again = try? EndpointFile.applying(written, path: "w", to: read, warnings: &warnings) else {
            fatalError("the file was written and is not read: \(written)")
        }
        promise(EndpointFile.text(of: again) == written, "the file is read as another one: \(written)")
    } catch {
        promise(!error.problems.isEmpty, "a mistake is told")
    }
    return 0
}
