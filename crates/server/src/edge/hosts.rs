//! Host and Origin: a web page from elsewhere must not reach a server on this machine.

use http::{HeaderMap, StatusCode, Uri, header};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostProblem {
    NoHost,
    ForeignHost,
    ForeignOrigin,
}

impl HostProblem {
    pub fn status(self) -> StatusCode {
        match self {
            HostProblem::NoHost => StatusCode::BAD_REQUEST,
            HostProblem::ForeignHost | HostProblem::ForeignOrigin => StatusCode::FORBIDDEN,
        }
    }

    pub fn message(self) -> &'static str {
        match self {
            HostProblem::NoHost => "exactly one valid Host header is needed",
            HostProblem::ForeignHost => "this Host is not served here; see the setting `allowed_hosts`",
            HostProblem::ForeignOrigin => "this Origin may not call; see the setting `allowed_origins`",
        }
    }

    pub fn code(self) -> &'static str {
        match self {
            HostProblem::NoHost => "NO_HOST",
            HostProblem::ForeignHost => "FOREIGN_HOST",
            HostProblem::ForeignOrigin => "FOREIGN_ORIGIN",
        }
    }
}

/// Names and origins under which one port is served.
#[derive(Debug, Clone)]
pub struct Hosts {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Hosts {
    /// Loopback names and the given ones; origins are exactly those of this port, and the given ones.
    pub fn new(port: u16, hosts: &[String], origins: &[String]) -> Hosts {
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        let known = loopback.iter().map(|host| (*host).to_owned());
        let own = loopback.iter().map(|host| format!("http://{host}:{port}"));
        Hosts {
            hosts: known.chain(hosts.iter().map(|host| host.to_ascii_lowercase())).collect(),
            origins: own.chain(origins.iter().map(|origin| origin.to_ascii_lowercase())).collect(),
        }
    }

    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), HostProblem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => Some(host.to_str().map_err(|_| HostProblem::NoHost)?.to_ascii_lowercase()),
            (None, None) => None,
            (_, Some(_)) => return Err(HostProblem::NoHost),
        };
        // A request line may carry the whole address; then it counts as well as the header.
        let named = uri.authority().map(|authority| authority.as_str().to_ascii_lowercase());
        if host.is_none() && named.is_none() {
            return Err(HostProblem::NoHost);
        }
        if [host, named].into_iter().flatten().any(|host| !self.is_known(&host)) {
            return Err(HostProblem::ForeignHost);
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().map_err(|_| HostProblem::ForeignOrigin)?.to_ascii_lowercase();
            if !self.origins.contains(&origin) {
                return Err(HostProblem::ForeignOrigin);
            }
        }
        // Browsers send no Origin with what a page merely embeds, such as an image.
        let is = |name: &str, value: &str| headers.get(name).is_some_and(|found| found == value);
        if is("sec-fetch-site", "cross-site") && !is("sec-fetch-mode", "navigate") {
            return Err(HostProblem::ForeignOrigin);
        }
        Ok(())
    }

    /// With or without a port.
    fn is_known(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
            Some(_) | None => host,
        };
        self.hosts.iter().any(|known| known == name || known == host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(pairs: &[(&'static str, &'static str)], expected: Result<(), HostProblem>) {
        let hosts = Hosts::new(8787, &["materia.example".to_owned()], &[]);
        let headers =
            pairs.iter().map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        assert_eq!(hosts.check(&Uri::from_static("/mcp"), &map), expected, "{pairs:?}");
    }

    #[test]
    fn what_a_foreign_page_embeds_is_refused() {
        let host = ("host", "localhost");
        let foreign = ("sec-fetch-site", "cross-site");
        check(&[host, foreign, ("sec-fetch-mode", "no-cors")], Err(HostProblem::ForeignOrigin));
        check(&[host, foreign, ("sec-fetch-mode", "navigate")], Ok(()));
        check(&[host, ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")], Ok(()));
    }

    #[test]
    fn only_known_hosts_are_served() {
        for host in ["localhost", "localhost:8787", "127.0.0.1:1", "[::1]:8787", "[::1]", "MATERIA.example"] {
            check(&[("host", host)], Ok(()));
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io:8787", ""] {
            check(&[("host", host)], Err(HostProblem::ForeignHost));
        }
        check(&[], Err(HostProblem::NoHost));
        check(&[("host", "localhost"), ("host", "evil.example")], Err(HostProblem::NoHost));
    }

    #[test]
    fn only_the_own_origin_may_call() {
        check(&[("host", "localhost"), ("origin", "http://localhost:8787")], Ok(()));
        for origin in
            ["https://evil.example", "null", "http://localhost:9999", "http://localhost", "https://localhost:8787"]
        {
            check(&[("host", "localhost"), ("origin", origin)], Err(HostProblem::ForeignOrigin));
        }
    }
}
