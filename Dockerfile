# The coder worker for agents, in an image without a shell, as a user without rights:
#
#     npm run build && node scripts/with-bun.mjs scripts/release/image.ts dist/coder amd64
#     docker build --tag coder .
#     docker run --rm --interactive --read-only --user "$(id -u):$(id -g)" \
#       --volume "$PWD:/project" --tmpfs /state:uid=$(id -u),mode=700 coder
FROM scratch
COPY dist/image/files/ /
COPY --chown=65532:65532 dist/image/state/ /state/
COPY --chown=65532:65532 dist/image/project/ /project/
ENV HOME=/state XDG_STATE_HOME=/state TMPDIR=/state
USER 65532:65532
VOLUME ["/state"]
WORKDIR /project
ENTRYPOINT ["/usr/local/bin/coder"]
CMD ["mcp", "--base-path", "/project"]
