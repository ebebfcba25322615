// The configuration of the mobile server: a file that is read can be written, and reads back the same.
// Mistakes have places.

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    do throws(ConfigurationError) {
        let configuration = try ServerConfiguration(yaml: text, path: "f")
        let written = configuration.yaml
        guard let again = try? ServerConfiguration(yaml: written, path: "w") else {
            fatalError("the configuration was written and is not read: \(written)")
        }
        promise(again == configuration, "the configuration is read as another one: \(written)")
        for application in configuration.applications.values {
            let body = application.canonicalJSON()
            guard let same = try? ApplicationConfiguration(canonicalJSON: body) else {
                fatalError("the version was written and is not read: \(String(decoding: body, as: UTF8.self))")
            }
            promise(same == application && same.canonicalJSON() == body, "the version is read as another one")
        }
    } catch {
        promise(!error.problems.isEmpty, "a mistake is told")
        for problem in error.problems { promise(problem.line >= 0 && problem.column >= 0, "a place is a number") }
    }
    return 0
}
