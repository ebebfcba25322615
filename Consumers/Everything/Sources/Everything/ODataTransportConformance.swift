import HTTPTypes
import ODataHTTP
import ODataTransportConformance

func usesODataTransportConformance() async throws {
    // The author of a transport runs the checks on it.
    let subject = TransportSubject(inMemory: { handler in LoopbackTransport(handle: handler) })
    let abilities: Set<TransportAbility> = [.streamsDownloads, .holdsBack, .streamsUploads, .keepsRepeatedFields]
    for check in TransportCheck.all(for: abilities) {
        try await check.run(on: subject)
        print("ok: \(check)")
    }
}
